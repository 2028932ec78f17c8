#include "nopal/core/machine/topology.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "base/read_text.hpp"
#include "machine/hwloc_topology.hpp"
#include "machine/linux_topology.hpp"
#include "nopal/core/base/tuning.hpp"

namespace nopal::inline NOPAL_ABI::core {

// Workers take first the PUs that are the first of their cores, then the second of each.
topology::topology(topology_tree tree) : tree_{std::move(tree)}, spread_(tree_.places.size()) {
  std::iota(spread_.begin(), spread_.end(), 0u);
  auto const& rank = tree_.ranks;
  std::sort(spread_.begin(), spread_.end(), [&](unsigned a, unsigned b) { return std::pair{rank[a], a} < std::pair{rank[b], b}; });
}

topology topology::of_linux(std::vector<int> const& allowed_cpus, std::string const& sys) {
  std::optional<topology_tree> machine = read_linux_topology(allowed_cpus, sys);
  return machine ? topology{*std::move(machine)} : flat(allowed_cpus);
}

namespace {

struct answer {
  std::string environment;
  std::vector<int> allowed_cpus;
  topology machine;
};
constinit std::mutex loading;
constinit answer* last = nullptr;  // under `loading`; never destroyed: a pool may be made by a destructor that runs after ours would

}  // namespace

void topology::before_fork() noexcept { loading.lock(); }
void topology::after_fork() noexcept { loading.unlock(); }

topology topology::load(std::vector<int> const& allowed_cpus) {
  std::lock_guard const lock{loading};
  std::string environment = hwloc_environment();
  if (last != nullptr && last->environment == environment && last->allowed_cpus == allowed_cpus) return last->machine;

  bool const other = hwloc_is_told_of_a_machine();
  std::optional<topology_tree> tree = other ? read_hwloc_topology(allowed_cpus) : read_linux_topology(allowed_cpus, "/sys");
  if (!tree) return flat(allowed_cpus);
  topology machine{*std::move(tree)};
  auto made = std::make_unique<answer>(answer{std::move(environment), allowed_cpus, machine});
  delete std::exchange(last, made.release());
  return machine;
}

topology topology::made_up(std::string const& description) {
  std::string const name = "NOPAL_SCHEDULE=\"simulate:" + description + '"';
  std::vector<unsigned> numbers;  // of "128" or "2x56"
  for (std::string_view left = description; !left.empty();) {
    unsigned n = 0;
    bool const is_last = left.find('x') == left.npos;
    if (!read_all(take_until(left, 'x'), n) || n == 0 || n > tuning::most_workers || (!is_last && left.empty())) {
      numbers.clear();
      break;
    }
    numbers.push_back(n);
  }
  auto const check = [&](std::uint64_t pus) {
    if (pus <= tuning::most_workers) return;
    throw std::invalid_argument{"nopal::pool: " + name + " has " + std::to_string(pus) + " CPUs, more than the limit of " +
                                std::to_string(tuning::most_workers) + "; ask for fewer"};
  };
  if (numbers.empty() || numbers.size() > 2) {
    topology machine{read_synthetic_topology("nopal::pool: NOPAL_SCHEDULE=simulate", description.c_str())};
    check(machine.pus());
    return machine;
  }
  unsigned const nodes = numbers.size() == 2 ? numbers.front() : 1;
  check(std::uint64_t{nodes} * numbers.back());
  topology_tree made;
  made.nodes = nodes;
  made.this_machine = false;
  unsigned const root = made.add(0, 0);
  for (unsigned node = 0; node < nodes; ++node) {
    unsigned const above = nodes == 1 ? root : made.add(root, 1);
    for (unsigned k = 0; k < numbers.back(); ++k) {
      made.make_leaf(made.add(above, nodes == 1 ? 1 : 2), static_cast<int>(made.places.size()), node, 0);
    }
  }
  return topology{std::move(made)};
}

topology topology::flat(std::vector<int> cpus) {
  if (cpus.empty()) {
    cpus.resize(std::max(1u, std::thread::hardware_concurrency()));
    std::iota(cpus.begin(), cpus.end(), 0);
  }
  topology_tree made;
  unsigned const root = made.add(0, 0);
  for (int const cpu : cpus) made.make_leaf(made.add(root, 1), cpu, 0, 0);
  return topology{std::move(made)};
}

std::vector<place> topology::spread(unsigned workers) const {
  std::vector<place> where;
  where.reserve(workers);
  for (unsigned i = 0; i < workers; ++i) where.push_back(tree_.places[spread_[i % pus()]]);
  return where;
}

int topology::distance(unsigned a, unsigned b) const noexcept {
  auto const& vertices = tree_.vertices;
  unsigned x = tree_.leaves[a];
  unsigned y = tree_.leaves[b];
  int const deepest = std::max(vertices[x].depth, vertices[y].depth);
  while (x != y) {
    // The deeper climbs; at equal depth either may, since both are below the common ancestor.
    unsigned& deeper = vertices[x].depth >= vertices[y].depth ? x : y;
    deeper = vertices[deeper].parent;
  }
  return deepest - vertices[x].depth;
}

}  // namespace nopal::core
