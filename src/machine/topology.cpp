#include "nopal/core/machine/topology.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "machine/hwloc_topology.hpp"
#include "machine/linux_topology.hpp"

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
