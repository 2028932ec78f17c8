#include "nopal/core/machine/topology.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

namespace nopal::core {
namespace {

/// All variables that hwloc may read, as one string.
std::string hwloc_environment() {
  std::string all;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (std::string_view{*variable}.starts_with("HWLOC_")) all.append(*variable).push_back('\0');
  }
  return all;
}

bool is_set(char const* variable) noexcept {
  char const* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// Do hwloc's variables say what the machine is, or whom hwloc should ask about it?
bool hwloc_is_told_of_a_machine() noexcept {
  static constexpr std::array variables{"HWLOC_SYNTHETIC",  "HWLOC_XMLFILE",    "HWLOC_FSROOT",
                                        "HWLOC_CPUID_PATH", "HWLOC_COMPONENTS", "HWLOC_THISSYSTEM"};
  return std::any_of(variables.begin(), variables.end(), is_set);
}

}  // namespace

#if !NOPAL_HWLOC
std::optional<topology> topology::of_hwloc(std::vector<int> const& allowed_cpus) {
  // Programs of other makers share the other variables: these describe this machine, as a rule, to save time.
  if (!is_set("HWLOC_SYNTHETIC")) return read_linux(allowed_cpus, "/sys");
  throw std::invalid_argument{std::string{"HWLOC_SYNTHETIC=\""} + std::getenv("HWLOC_SYNTHETIC") +
                              "\" describes a machine, but this nopal was built without hwloc, which would understand it; unset "
                              "HWLOC_SYNTHETIC to use the real machine, or build nopal with -DNOPAL_HWLOC=ON"};
}
#endif

topology topology::of_linux(std::vector<int> const& allowed_cpus, std::string const& sys) {
  std::optional<topology> machine = read_linux(allowed_cpus, sys);
  return machine ? *std::move(machine) : flat(allowed_cpus);
}

topology topology::load(std::vector<int> const& allowed_cpus) {
  struct answer {
    std::string environment;
    std::vector<int> allowed_cpus;
    topology machine;
  };
  // Never destroyed: a pool may be made by a destructor that runs after ours would.
  static std::mutex& guard = *new std::mutex;
  static std::optional<answer>& last = *new std::optional<answer>;

  std::lock_guard const lock{guard};
  std::string environment = hwloc_environment();
  if (last && last->environment == environment && last->allowed_cpus == allowed_cpus) return last->machine;

  std::optional<topology> machine = hwloc_is_told_of_a_machine() ? of_hwloc(allowed_cpus) : read_linux(allowed_cpus, "/sys");
  if (!machine) return flat(allowed_cpus);
  last.emplace(answer{std::move(environment), allowed_cpus, *machine});
  return *std::move(machine);
}

void topology::order(std::vector<unsigned> const& rank) {
  spread_.resize(places_.size());
  std::iota(spread_.begin(), spread_.end(), 0u);
  std::sort(spread_.begin(), spread_.end(), [&](unsigned a, unsigned b) { return std::pair{rank[a], a} < std::pair{rank[b], b}; });
}

topology topology::flat(std::vector<int> cpus) {
  if (cpus.empty()) {
    cpus.resize(std::max(1u, std::thread::hardware_concurrency()));
    std::iota(cpus.begin(), cpus.end(), 0);
  }
  topology made;
  made.tree_.push_back({0, 0});
  for (int cpu : cpus) {
    auto const pu = made.pus();
    made.places_.push_back({cpu, 0, pu});
    made.leaf_.push_back(static_cast<unsigned>(made.tree_.size()));
    made.spread_.push_back(pu);
    made.tree_.push_back({0, 1});
  }
  return made;
}

std::vector<place> topology::spread(unsigned workers) const {
  std::vector<place> where;
  where.reserve(workers);
  for (unsigned i = 0; i < workers; ++i) where.push_back(places_[spread_[i % pus()]]);
  return where;
}

int topology::distance(unsigned a, unsigned b) const noexcept {
  unsigned x = leaf_[a];
  unsigned y = leaf_[b];
  int const deepest = std::max(tree_[x].depth, tree_[y].depth);
  while (x != y) {
    // The deeper climbs; at equal depth either may, since both are below the common ancestor.
    unsigned& deeper = tree_[x].depth >= tree_[y].depth ? x : y;
    deeper = tree_[deeper].parent;
  }
  return deepest - tree_[x].depth;
}

}  // namespace nopal::core
