#include "nopal/core/machine/topology.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/read_text.hpp"
#include "machine/hwloc_topology.hpp"
#include "machine/linux_topology.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/machine/cpus.hpp"

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

namespace {

// Takes hwloc's words, as "pack:2 [numa] core:14 pu:2": each number is how many there are in one of the level before. True if they are few
// enough for hwloc to build them all. hwloc itself refuses what it does not understand.
bool may_be_counted(std::string_view description) {
  std::uint64_t pus = 1;
  int brackets = 0;
  while (!description.empty()) {
    std::string_view word = take_until(description, ' ');
    for (char const c : word) brackets += (c == '[' || c == '(') ? 1 : (c == ']' || c == ')') ? -1 : 0;
    if (brackets != 0 || word.ends_with(']')) continue;  // memory, beside the levels
    word = word.substr(0, word.find('('));
    std::uint64_t n = 0;
    if (!read_all(word.substr(word.find(':') + 1), n)) continue;
    if (n > tuning::most_workers || pus * n > tuning::most_workers) return false;
    pus *= n;
  }
  return true;
}

}  // namespace

topology topology::made_up(std::string const& description) {
  std::string const what = "nopal::pool: the simulated machine";
  std::string const name = what + " \"" + description + '"';
  auto const check = [&](std::string const& pus, bool few) {
    if (few) return;
    throw std::invalid_argument{name + " has " + pus + " CPUs, more than the limit of " + std::to_string(tuning::most_workers) +
                                "; ask for fewer"};
  };
  // "128" or "2x56" is ours; hwloc would take a lone number for the width of a level, and build any number of CPUs before they can be
  // counted.
  if (description.find_first_not_of("0123456789x") != description.npos) {
    check("too many", may_be_counted(description));
    topology machine{read_synthetic_topology(what.c_str(), description.c_str())};
    check(std::to_string(machine.pus()), machine.pus() <= tuning::most_workers);
    return machine;
  }
  std::string_view left = description;
  std::string_view const first = take_until(left, 'x');
  bool const has_nodes = first.size() != description.size();
  std::uint64_t nodes = 1;
  std::uint64_t cores = 0;
  if (!read_all(first, has_nodes ? nodes : cores) || (has_nodes && !read_all(left, cores)) || nodes == 0 || cores == 0) {
    throw std::invalid_argument{name + " is no machine; write a number of CPUs from 1 to " + std::to_string(tuning::most_workers) +
                                ", as simulate:128, or nodes and CPUs in each, as simulate:2x56"};
  }
  bool const few = nodes <= tuning::most_workers && cores <= tuning::most_workers && nodes * cores <= tuning::most_workers;
  check(has_nodes ? std::to_string(nodes) + " x " + std::to_string(cores) : std::to_string(cores), few);
  topology_tree made;
  made.nodes = static_cast<unsigned>(nodes);
  made.this_machine = false;
  unsigned const root = made.add(0, 0);
  for (unsigned node = 0; node < nodes; ++node) {
    unsigned const above = nodes == 1 ? root : made.add(root, 1);
    for (unsigned k = 0; k < cores; ++k) {
      made.make_leaf(made.add(above, nodes == 1 ? 1 : 2), static_cast<int>(made.places.size()), node, 0);
      made.packages.push_back(node);
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

namespace {

// "0-2,5" for ascending numbers, as Linux writes them.
std::string as_ranges(std::vector<int> const& ascending) {
  std::string text;
  for (std::size_t k = 0; k < ascending.size();) {
    std::size_t last = k;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(ascending[k]);
    if (last > k) text.append(1, '-').append(std::to_string(ascending[last]));
    k = last + 1;
  }
  return text;
}

[[noreturn]] void reject_place(std::string const& what) { throw std::invalid_argument{"nopal::pool: place = " + what}; }

}  // namespace

std::vector<int> topology::cpus_of(nopal::place const& p) const {
  using kind = nopal::place::kind;
  auto const fastest = tree_.speeds.empty() ? 0 : *std::ranges::max_element(tree_.speeds);
  auto const has = [&](unsigned pu) {
    switch (p.kind_) {
      case kind::cpus: return std::ranges::find(p.numbers_, tree_.places[pu].cpu) != p.numbers_.end();
      case kind::numa: return tree_.places[pu].node == p.number_;
      case kind::package: return (tree_.packages.empty() ? 0 : tree_.packages[pu]) == p.number_;
      case kind::performance: return tree_.speeds.empty() || tree_.speeds[pu] == fastest;
      case kind::efficiency: return !tree_.speeds.empty() && tree_.speeds[pu] != fastest;
      default: return true;
    }
  };
  std::vector<int> cpus;
  std::vector<int> all;
  for (unsigned pu = 0; pu < tree_.places.size(); ++pu) {
    all.push_back(tree_.places[pu].cpu);
    if (has(pu)) cpus.push_back(tree_.places[pu].cpu);
  }
  std::ranges::sort(cpus);
  std::ranges::sort(all);
  auto const number = std::to_string(p.number_);
  for (int const cpu : p.numbers_) {
    if (std::ranges::binary_search(all, cpu)) continue;
    reject_place("cpus(...) names CPU " + std::to_string(cpu) + ", which this process may not use; it may use " + as_ranges(all));
  }
  if (!cpus.empty()) return cpus;
  switch (p.kind_) {
    case kind::numa:
      reject_place("numa(" + number + "), but there are " + std::to_string(nodes()) +
                   " NUMA nodes with CPUs that this process may use, counted from 0; numa_nodes() lists them");
    case kind::package: {
      unsigned const packages = tree_.packages.empty() ? 1 : *std::ranges::max_element(tree_.packages) + 1;
      reject_place("package(" + number + "), but there are " + std::to_string(packages) +
                   " packages with CPUs that this process may use, counted from 0");
    }
    case kind::efficiency:
      reject_place("efficiency_cores(), but all cores that this process may use are alike; performance_cores() is all of them");
    default: reject_place("cpus({}) is no CPU; it may use " + as_ranges(all));
  }
}

void topology::keep_only(std::vector<int> const& cpus) {
  std::erase_if(spread_, [&](unsigned pu) { return !std::ranges::binary_search(cpus, tree_.places[pu].cpu); });
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
    // The deeper vertex climbs; at equal depth either may, since both are below the common ancestor.
    unsigned& deeper = vertices[x].depth >= vertices[y].depth ? x : y;
    deeper = vertices[deeper].parent;
  }
  return deepest - vertices[x].depth;
}

}  // namespace nopal::core

namespace nopal::inline NOPAL_ABI {

std::vector<place> numa_nodes() {
  std::vector<place> all;
  unsigned const n = core::topology::load(core::read_cpu_limits().cpus).nodes();
  for (unsigned k = 0; k < n; ++k) all.push_back(place::numa(k));
  return all;
}

}  // namespace nopal
