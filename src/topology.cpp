#include "nopal/core/topology.hpp"

#include <hwloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace nopal::core {
namespace {

constexpr char const* synthetic_variable = "HWLOC_SYNTHETIC";

struct hwloc_free {
  void operator()(hwloc_topology_t machine) const { hwloc_topology_destroy(machine); }
  void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using machine_ptr = std::unique_ptr<hwloc_topology, hwloc_free>;
using bitmap_ptr = std::unique_ptr<hwloc_bitmap_s, hwloc_free>;

/// hwloc crashes where an allocation of its own fails. Is there as much as it may want, and more?
bool is_memory_for_hwloc() noexcept {
  std::size_t const bytes = (std::size_t{1} << 20) + std::thread::hardware_concurrency() * (std::size_t{16} << 10);
  void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p != MAP_FAILED && ::munmap(p, bytes) == 0;
}

/// Not yet loaded; null if hwloc cannot even start.
machine_ptr new_machine() {
  if (!is_memory_for_hwloc()) return nullptr;
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  machine_ptr machine{raw};
  // Only what carries CPUs and memory. Without the flag, hwloc binds the calling thread to every CPU in turn to ask its CPUID:
  // that took two thirds of the time, disturbs whoever runs there, and tells nothing that Linux has not told already.
  if (hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE) != 0) return nullptr;
  if (hwloc_topology_set_type_filter(raw, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE) != 0) return nullptr;
  if (hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING) != 0) return nullptr;
  return machine;
}

/// Leaves exactly `cpus` in the machine; false if it does not have them all.
bool restrict_to(hwloc_topology_t machine, std::vector<int> const& cpus) {
  bitmap_ptr const wanted{hwloc_bitmap_alloc()};
  if (!wanted) return false;
  for (int cpu : cpus) {
    if (cpu < 0 || hwloc_bitmap_set(wanted.get(), static_cast<unsigned>(cpu)) != 0) return false;
  }
  if (hwloc_topology_restrict(machine, wanted.get(), HWLOC_RESTRICT_FLAG_REMOVE_CPULESS) != 0) return false;
  return hwloc_bitmap_isequal(hwloc_topology_get_topology_cpuset(machine), wanted.get()) != 0;
}

/// All variables that hwloc may read, as one string.
std::string hwloc_environment() {
  std::string all;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (std::string_view{*variable}.starts_with("HWLOC_")) all.append(*variable).push_back('\0');
  }
  return all;
}

}  // namespace

/// Copies a loaded hwloc topology.
class topology::reader {
 public:
  /// This machine, or what hwloc's variables say instead; nothing if hwloc does not know the CPUs.
  static std::optional<topology> machine(std::vector<int> const& allowed_cpus) {
    machine_ptr const machine = new_machine();
    if (!machine || hwloc_topology_load(machine.get()) != 0) return std::nullopt;
    bool const ours = hwloc_topology_is_thissystem(machine.get()) != 0;
    if (ours && !allowed_cpus.empty() && !restrict_to(machine.get(), allowed_cpus)) return std::nullopt;
    return reader{}.copy(machine.get(), ours);
  }

  static topology synthetic(char const* description) {
    machine_ptr const machine = new_machine();
    if (!machine) throw std::bad_alloc{};
    // Left to itself, hwloc takes the real machine without a word if it does not understand the variable.
    if (hwloc_topology_set_synthetic(machine.get(), description) != 0 || hwloc_topology_load(machine.get()) != 0) {
      throw std::invalid_argument{std::string{synthetic_variable} + "=\"" + description +
                                  "\" is not a topology that hwloc understands; unset " + synthetic_variable +
                                  " to use the real machine, or give one like \"numa:2 core:4 pu:1\""};
    }
    return reader{}.copy(machine.get(), false);
  }

 private:
  topology copy(hwloc_topology_t machine, bool ours) {
    visit(hwloc_get_root_obj(machine), 0, 0, nullptr, nullptr);
    made_.nodes_ = static_cast<unsigned>(nodes_.size());
    made_.this_machine_ = ours;
    made_.spread_.resize(made_.places_.size());
    std::iota(made_.spread_.begin(), made_.spread_.end(), 0u);
    std::sort(made_.spread_.begin(), made_.spread_.end(),
              [&](unsigned a, unsigned b) { return std::pair{rank_[a], a} < std::pair{rank_[b], b}; });
    return std::move(made_);
  }

  /// `core` and `memory` are the nearest objects above that are a core and that have memory of their own. A PU's node is
  /// the nearest memory, not the first in its nodeset: far memory (CXL) hangs higher, fast memory (HBM) beside it is the same node.
  void visit(hwloc_obj_t object, unsigned parent, int depth, hwloc_obj_t core, hwloc_obj_t memory) {
    auto const self = static_cast<unsigned>(made_.tree_.size());
    made_.tree_.push_back({parent, depth});
    if (object->type == HWLOC_OBJ_CORE) core = object;
    if (object->memory_arity > 0) memory = object;
    if (object->type == HWLOC_OBJ_PU) {
      auto const pu = static_cast<unsigned>(made_.places_.size());
      unsigned const node = nodes_.try_emplace(memory, static_cast<unsigned>(nodes_.size())).first->second;
      made_.places_.push_back({static_cast<int>(object->os_index), node, pu});
      made_.leaf_.push_back(self);
      rank_.push_back(core == nullptr ? 0 : taken_[core]++);
    }
    for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) {
      visit(child, self, depth + 1, core, memory);
    }
  }

  topology made_;
  std::map<hwloc_obj_t, unsigned> nodes_;  // memory to dense node
  std::map<hwloc_obj_t, unsigned> taken_;  // core to PUs seen
  std::vector<unsigned> rank_;             // by PU: how many of its core came before
};

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

  char const* const description = std::getenv(synthetic_variable);
  std::optional<topology> machine;
  if (description != nullptr && *description != '\0') {
    machine = reader::synthetic(description);
  } else {
    machine = reader::machine(allowed_cpus);
  }
  if (!machine) return flat(allowed_cpus);
  last.emplace(answer{std::move(environment), allowed_cpus, *machine});
  return *std::move(machine);
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
