#include "machine/hwloc_topology.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#if NOPAL_HWLOC
#include <hwloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <map>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#else
#include "machine/linux_topology.hpp"
#endif

namespace nopal::inline NOPAL_ABI::core {
namespace {

constexpr char const* synthetic_variable = "HWLOC_SYNTHETIC";

/// The value of a variable of the environment; null also if it is empty.
char const* value_of(char const* variable) noexcept {
  char const* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): the environment must not change meanwhile
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

std::string hwloc_environment() {
  std::string all;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (std::string_view{*variable}.starts_with("HWLOC_")) all.append(*variable).push_back('\0');
  }
  return all;
}

bool hwloc_is_told_of_a_machine() noexcept {
  static constexpr std::array variables{synthetic_variable, "HWLOC_XMLFILE",    "HWLOC_FSROOT",
                                        "HWLOC_CPUID_PATH", "HWLOC_COMPONENTS", "HWLOC_THISSYSTEM"};
  return std::any_of(variables.begin(), variables.end(), [](char const* v) { return value_of(v) != nullptr; });
}

#if NOPAL_HWLOC

namespace {

struct hwloc_free {
  void operator()(hwloc_topology_t machine) const { hwloc_topology_destroy(machine); }
  void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using machine_ptr = std::unique_ptr<hwloc_topology, hwloc_free>;
using bitmap_ptr = std::unique_ptr<hwloc_bitmap_s, hwloc_free>;

/// True if there is as much memory as hwloc may want, and more: it crashes if an allocation of its own fails.
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
  // Only what carries CPUs and memory. Without the flag, hwloc binds the calling thread to every CPU in turn to ask its CPUID: that took
  // two thirds of the time, disturbs what runs there, and adds nothing to what Linux has told already.
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

/// Copies a loaded hwloc topology.
class hwloc_reader {
 public:
  /// This machine, or what hwloc's variables say instead; nothing if hwloc does not know the CPUs.
  static std::optional<topology_tree> machine(std::vector<int> const& allowed_cpus) {
    machine_ptr const machine = new_machine();
    if (!machine || hwloc_topology_load(machine.get()) != 0) return std::nullopt;
    bool const ours = hwloc_topology_is_thissystem(machine.get()) != 0;
    if (ours && !allowed_cpus.empty() && !restrict_to(machine.get(), allowed_cpus)) return std::nullopt;
    return hwloc_reader{}.copy(machine.get(), ours);
  }

  static topology_tree synthetic(char const* from, char const* description) {
    machine_ptr const machine = new_machine();
    if (!machine) throw std::bad_alloc{};
    // By itself, hwloc silently uses the real machine if it does not understand the variable.
    if (hwloc_topology_set_synthetic(machine.get(), description) != 0 || hwloc_topology_load(machine.get()) != 0) {
      throw std::invalid_argument{std::string{from} + " \"" + description +
                                  "\" is not a topology that hwloc understands; unset it to use the "
                                  "real machine, or give one like \"numa:2 core:4 pu:1\""};
    }
    return hwloc_reader{}.copy(machine.get(), false);
  }

 private:
  topology_tree copy(hwloc_topology_t machine, bool ours) {
    visit(hwloc_get_root_obj(machine), 0, 0, {});
    read_speeds(machine);
    made_.nodes = static_cast<unsigned>(nodes_.size());
    made_.this_machine = ours;
    return std::move(made_);
  }

  /// The nearest objects above that are a core, a package, and that have memory of their own; null: none.
  struct nearest {
    hwloc_obj_t core = nullptr;
    hwloc_obj_t package = nullptr;
    hwloc_obj_t memory = nullptr;
  };
  /// `above`: of the object's parent. A PU's node is the nearest
  /// memory, not the first in its nodeset: far memory (CXL) is higher in the tree, fast memory (HBM) beside it is the same node.
  void visit(hwloc_obj_t object, unsigned parent, int depth, nearest above) {
    unsigned const self = made_.add(parent, depth);
    if (object->type == HWLOC_OBJ_CORE) above.core = object;
    if (object->type == HWLOC_OBJ_PACKAGE) above.package = object;
    if (object->memory_arity > 0) above.memory = object;
    if (object->type == HWLOC_OBJ_PU) {
      unsigned const node = number_of(nodes_, above.memory);
      made_.make_leaf(self, static_cast<int>(object->os_index), node, above.core == nullptr ? 0 : taken_[above.core]++);
      made_.packages.push_back(number_of(packages_, above.package));
    }
    for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) visit(child, self, depth + 1, above);
  }

  using numbers = std::map<hwloc_obj_t, unsigned>;
  static unsigned number_of(numbers& all, hwloc_obj_t of) { return all.try_emplace(of, static_cast<unsigned>(all.size())).first->second; }

  /// hwloc's kinds of cores are in the order of their efficiency: the last is the fastest.
  void read_speeds([[maybe_unused]] hwloc_topology_t machine) {
#if HWLOC_API_VERSION >= 0x00020400
    int efficiency = -1;
    if (hwloc_cpukinds_get_nr(machine, 0) < 2) return;
    if (hwloc_cpukinds_get_info(machine, 0, nullptr, &efficiency, nullptr, nullptr, 0) != 0 || efficiency < 0) return;  // in no order
    bitmap_ptr const one{hwloc_bitmap_alloc()};
    if (!one) return;
    for (place const& p : made_.places) {
      hwloc_bitmap_only(one.get(), static_cast<unsigned>(p.cpu));
      int const kind = hwloc_cpukinds_get_by_cpuset(machine, one.get(), 0);
      made_.speeds.push_back(kind < 0 ? 0 : static_cast<unsigned>(kind));
    }
#endif
  }

  topology_tree made_;
  numbers nodes_, packages_;               // memory to dense node, package to dense package
  std::map<hwloc_obj_t, unsigned> taken_;  // core to PUs seen
};

}  // namespace

std::optional<topology_tree> read_hwloc_topology(std::vector<int> const& allowed_cpus) {
  char const* const description = value_of(synthetic_variable);
  if (description != nullptr) return hwloc_reader::synthetic(synthetic_variable, description);
  return hwloc_reader::machine(allowed_cpus);
}

topology_tree read_synthetic_topology(char const* from, char const* description) { return hwloc_reader::synthetic(from, description); }

#else

// Other vendors' programs share the other variables: usually these describe this machine, to save time.
std::optional<topology_tree> read_hwloc_topology(std::vector<int> const& allowed_cpus) {
  char const* const description = value_of(synthetic_variable);
  if (description == nullptr) return read_linux_topology(allowed_cpus, "/sys");
  return read_synthetic_topology(synthetic_variable, description);
}

topology_tree read_synthetic_topology(char const* from, char const* description) {
  throw std::invalid_argument{std::string{from} + " \"" + description +
                              "\" describes a machine, but this nopal was built without hwloc, which would understand it; unset it to use "
                              "the real machine, or build nopal with -DNOPAL_HWLOC=ON"};
}

#endif

}  // namespace nopal::core
