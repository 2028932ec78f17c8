// What Linux says of this machine, in small files: which CPUs are one core, share a cache, are a cluster, a die, a package or a NUMA node.
// When a pool is made. The result is a topology_tree.

#include "nopal/core/machine/topology.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/read_text.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/abi.h"
#include "nopal/core/machine/cpus.hpp"

#if NOPAL_HWLOC
#include <hwloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <map>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#endif

namespace nopal::inline NOPAL_ABI::core {

/// The tree of the machine that the files under `sys` describe, restricted to `allowed_cpus` (OS indices; empty: those online). Nothing if
/// no file names some CPU, or if files are garbled or contradict each other. Throws nothing but std::bad_alloc. One small file for each set
/// of CPUs.
static std::optional<topology_tree> read_linux_topology(std::vector<int> const& allowed_cpus, std::string const& sys);

namespace {

/// Small files below one folder.
class folder {
 public:
  explicit folder(std::string const& path) noexcept : fd_{::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)} {}
  folder(folder const&) = delete;
  folder& operator=(folder const&) = delete;
  ~folder() {
    if (fd_ >= 0) ::close(fd_);
  }

  /// The content of the file, without the end of its line; empty if it cannot be read. Valid until the next call.
  std::string_view read(std::string const& name) {
    if (room_.empty()) room_.resize(1 << 12);
    int const file = ::openat(fd_, name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    struct closes {
      int file;
      ~closes() { ::close(file); }
    } const at_the_end{file};
    for (std::size_t size = 0;;) {
      auto const n = ::read(file, room_.data() + size, room_.size() - size);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return {};
      size += static_cast<std::size_t>(n);
      if (n == 0) {
        while (size > 0 && (room_[size - 1] == '\n' || room_[size - 1] == ' ')) --size;
        return {room_.data(), size};
      }
      if (size == room_.size()) {
        if (size >= most_) return {};
        room_.resize(2 * size);
      }
    }
  }

 private:
  static constexpr std::size_t most_ = 1 << 20;  // far beyond any list of CPUs

  int fd_;
  std::string room_;
};

constexpr std::int64_t most_cpus = 1 << 22, most_nodes = 1 << 16;  // far beyond any kernel's: a garbled list is not counted through
constexpr unsigned unknown = ~0u;

/// What CPUs can share besides caches: the file that lists those CPUs, and its name on older kernels.
enum class shares { core, package, other };
struct level {
  char const* name;
  char const* older_name;
  shares what;
};
constexpr level levels[]{{"/topology/core_cpus_list", "/topology/thread_siblings_list", shares::core},
                         {"/topology/cluster_cpus_list", "", shares::other},
                         {"/topology/die_cpus_list", "", shares::other},
                         {"/topology/package_cpus_list", "/topology/core_siblings_list", shares::package}};

/// All numbers of the list, each below `limit`; none if it is garbled.
std::vector<int> numbers_in(std::string_view list, std::int64_t limit) {
  std::vector<int> all;
  bool const good = for_each_range(list, [&](std::int64_t first, std::int64_t last) {
    if (last >= limit) return false;
    for (auto n = first; n <= last; ++n) all.push_back(static_cast<int>(n));
    return true;
  });
  if (!good) all.clear();
  return all;
}

/// Sets of CPUs that share something are nested or disjoint, so they are a tree. A CPU is named by its position among those allowed. Each
/// function that returns a bool returns false if the files contradict each other.
class linux_reader {
 public:
  linux_reader(std::vector<int> const& allowed_cpus, std::string const& sys) : files_{sys + "/devices/system"}, cpus_{allowed_cpus} {
    if (cpus_.empty()) cpus_ = numbers_in(files_.read("cpu/online"), most_cpus);
    std::sort(cpus_.begin(), cpus_.end());
    cpus_.erase(std::unique(cpus_.begin(), cpus_.end()), cpus_.end());
    core_.assign(cpus_.size(), unknown);
    package_.assign(cpus_.size(), unknown);
    node_.assign(cpus_.size(), unknown);
    known_.assign(cpus_.size(), false);
  }

  std::optional<topology_tree> read() {
    if (cpus_.empty() || !read_cpus() || !read_nodes()) return std::nullopt;
    if (std::find(known_.begin(), known_.end(), false) != known_.end() || !nest()) return std::nullopt;
    read_speeds();
    visit(0, 0, 0);
    made_.nodes = std::max(1u, nodes_.seen);
    return std::move(made_);
  }

 private:
  using cpu_set = std::vector<unsigned>;  // ascending

  /// The CPUs of the list that are allowed; nothing if it is garbled.
  std::optional<cpu_set> positions_in(std::string_view list) const {
    cpu_set all;
    bool const good = for_each_range(list, [&](std::int64_t first, std::int64_t last) {
      for (auto at = std::lower_bound(cpus_.begin(), cpus_.end(), first); at != cpus_.end() && *at <= last; ++at) {
        all.push_back(static_cast<unsigned>(at - cpus_.begin()));
      }
      return true;
    });
    if (!good) return std::nullopt;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  void keep(cpu_set set) {
    for (unsigned const i : set) known_[i] = true;
    if (set.size() > 1) sets_.push_back(std::move(set));
  }

  bool read_cpus() {
    for (level const& l : levels) {
      bool some = false;
      cpu_set* const owner = l.what == shares::core ? &core_ : l.what == shares::package ? &package_ : nullptr;
      if (!read_level(l.name, l.older_name, owner, some)) return false;
    }
    bool some = true;
    for (int index = 0; some && index < 16; ++index) {
      some = false;
      if (!read_level("/cache/index" + std::to_string(index) + "/shared_cpu_list", "", nullptr, some)) return false;
    }
    return true;
  }

  /// Reads one file of each CPU that is in no set of this level yet: the CPUs of one set all have the same list. `owner`: gets, for each
  /// CPU, the first of its set; or null. `some`: set to true if there is any such file.
  bool read_level(std::string const& name, std::string const& older_name, cpu_set* owner, bool& some) {
    std::vector<bool> told(cpus_.size());
    for (unsigned i = 0; i < cpus_.size(); ++i) {
      if (told[i]) continue;
      std::string const cpu = "cpu/cpu" + std::to_string(cpus_[i]);
      std::string_view list = files_.read(cpu + name);
      if (list.empty() && !older_name.empty()) list = files_.read(cpu + older_name);
      if (list.empty()) continue;
      some = true;
      std::optional<cpu_set> set = positions_in(list);
      if (!set || !std::binary_search(set->begin(), set->end(), i)) return false;
      for (unsigned const j : *set) {
        told[j] = true;
        if (owner != nullptr) (*owner)[j] = i;
      }
      keep(*std::move(set));
    }
    return true;
  }

  /// Every CPU is on exactly one node, or no file names a node.
  bool read_nodes() {
    std::vector<int> const nodes = numbers_in(files_.read("node/online"), most_nodes);
    std::size_t placed = 0;
    for (int const node : nodes) {
      std::string_view const list = files_.read("node/node" + std::to_string(node) + "/cpulist");
      if (list.empty()) continue;  // memory alone
      std::optional<cpu_set> set = positions_in(list);
      if (!set) return false;
      for (unsigned const i : *set) {
        if (node_[i] != unknown) return false;
        node_[i] = static_cast<unsigned>(node);
      }
      placed += set->size();
      keep(*std::move(set));
    }
    return placed == 0 || placed == cpus_.size();
  }

  /// Each set becomes a vertex below the smallest that holds it; equal sets are one.
  bool nest() {
    std::sort(sets_.begin(), sets_.end(), [](cpu_set const& a, cpu_set const& b) { return a.size() > b.size(); });
    auto const n = static_cast<unsigned>(cpus_.size());
    std::vector<unsigned> innermost(n, 0);  // by CPU: a vertex
    std::vector<std::size_t> size{n};       // by vertex
    children_.resize(1);
    for (cpu_set const& set : sets_) {
      unsigned const parent = innermost[set.front()];
      for (unsigned const i : set) {
        if (innermost[i] != parent) return false;
      }
      if (set.size() == size[parent]) continue;
      auto const self = static_cast<unsigned>(children_.size());
      children_[parent].push_back({set.front(), self});
      children_.emplace_back();
      size.push_back(set.size());
      for (unsigned const i : set) innermost[i] = self;
    }
    for (unsigned i = 0; i < n; ++i) children_[innermost[i]].push_back({i, leaf});
    for (auto& siblings : children_) {
      std::sort(siblings.begin(), siblings.end(), [](child const& a, child const& b) { return a.first_cpu < b.first_cpu; });
    }
    taken_.assign(n, 0);
    return true;
  }

  /// Copies the tree below `vertex`, siblings in the order of their first CPUs.
  void visit(unsigned vertex, unsigned parent, int depth) {
    unsigned const self = made_.add(parent, depth);
    for (child const& c : children_[vertex]) {
      if (c.vertex != leaf) {
        visit(c.vertex, self, depth + 1);
        continue;
      }
      unsigned const i = c.first_cpu;
      made_.make_leaf(made_.add(self, depth + 1), cpus_[i], nodes_.dense(node_[i]), core_[i] == unknown ? 0 : taken_[core_[i]]++);
      made_.packages.push_back(packages_.dense(package_[i]));
      if (!speed_.empty()) made_.speeds.push_back(speed_[i]);
    }
  }

  /// Intel's hybrid processors list two kinds of cores; elsewhere the system may tell a capacity of each CPU. What it does not tell of all
  /// CPUs counts for none.
  void read_speeds() {
    std::optional<cpu_set> const fast = positions_in(files_.read("../cpu_core/cpus"));
    std::optional<cpu_set> const slow = positions_in(files_.read("../cpu_atom/cpus"));
    if (fast && slow && !fast->empty() && fast->size() + slow->size() == cpus_.size()) {
      speed_.assign(cpus_.size(), 0);
      for (unsigned const i : *fast) speed_[i] = 1;
      return;
    }
    for (int const cpu : cpus_) {
      unsigned capacity = 0;
      std::string_view text = files_.read("cpu/cpu" + std::to_string(cpu) + "/cpu_capacity");
      while (text.ends_with('\n')) text.remove_suffix(1);
      if (!read_all(text, capacity)) return speed_.clear();
      speed_.push_back(capacity);
    }
    if (std::ranges::adjacent_find(speed_, std::not_equal_to{}) == speed_.end()) speed_.clear();
  }

  /// Nodes and packages are numbered in the order of the tree.
  struct numbering {
    std::vector<unsigned> of;
    unsigned seen = 0;
    unsigned dense(unsigned number) {
      if (number == unknown) return 0;
      if (of.size() <= number) of.resize(number + 1, unknown);
      if (of[number] == unknown) of[number] = seen++;
      return of[number];
    }
  };

  static constexpr unsigned leaf = ~0u;
  struct child {
    unsigned first_cpu;
    unsigned vertex;  // leaf: it is the CPU itself
  };

  folder files_;
  std::vector<int> cpus_;                     // ascending
  cpu_set core_, package_, node_;             // by CPU: the first of its core, of its package, its node's number
  std::vector<unsigned> speed_;               // by CPU; empty: all are alike
  std::vector<bool> known_;                   // by CPU: some file names it
  std::vector<cpu_set> sets_;                 // of two CPUs and more
  std::vector<std::vector<child>> children_;  // by vertex; 0 is the root
  std::vector<unsigned> taken_;               // by the first CPU of a core: how many of that core were visited
  numbering nodes_, packages_;                // by a node's number; by the first CPU of a package
  topology_tree made_;
};

}  // namespace

static std::optional<topology_tree> read_linux_topology(std::vector<int> const& allowed_cpus, std::string const& sys) {
  return linux_reader{allowed_cpus, sys}.read();
}

// Machines that are not this one, which hwloc describes: made-up and saved ones. hwloc is not used for this machine, since it loads
// whatever plug-ins are installed (OpenCL, OpenGL, X11), and no option prevents that: read_linux_topology reads it. When a pool
// is made. The result is a topology_tree.

/// All variables of the environment that hwloc may read, as one string.
static std::string hwloc_environment();

/// True if hwloc's variables describe a machine, or say where hwloc should read about one.
static bool hwloc_is_told_of_a_machine() noexcept;

/// What hwloc's variables describe, restricted to `allowed_cpus` (OS indices; empty: all) unless it is another machine. Nothing if hwloc
/// cannot read it, or does not know those CPUs. Throws std::invalid_argument if HWLOC_SYNTHETIC is no topology, std::bad_alloc.
///
/// In a nopal that was built without hwloc: throws std::invalid_argument if HWLOC_SYNTHETIC is set, and otherwise reads this machine.
static std::optional<topology_tree> read_hwloc_topology(std::vector<int> const& allowed_cpus);

/// The machine that `description` makes up, in hwloc's words. Throws std::invalid_argument if it is none, or if there is no hwloc to
/// understand it. `from`: the variable that holds it.
static topology_tree read_synthetic_topology(char const* from, char const* description);

namespace {

constexpr char const* synthetic_variable = "HWLOC_SYNTHETIC";

/// The value of a variable of the environment; null also if it is empty.
char const* value_of(char const* variable) noexcept {
  char const* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): the environment must not change meanwhile
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

static std::string hwloc_environment() {
  std::string all;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (std::string_view{*variable}.starts_with("HWLOC_")) all.append(*variable).push_back('\0');
  }
  return all;
}

static bool hwloc_is_told_of_a_machine() noexcept {
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

static std::optional<topology_tree> read_hwloc_topology(std::vector<int> const& allowed_cpus) {
  char const* const description = value_of(synthetic_variable);
  if (description != nullptr) return hwloc_reader::synthetic(synthetic_variable, description);
  return hwloc_reader::machine(allowed_cpus);
}

static topology_tree read_synthetic_topology(char const* from, char const* description) {
  return hwloc_reader::synthetic(from, description);
}

#else

// Other vendors' programs share the other variables: usually these describe this machine, to save time.
static std::optional<topology_tree> read_hwloc_topology(std::vector<int> const& allowed_cpus) {
  char const* const description = value_of(synthetic_variable);
  if (description == nullptr) return read_linux_topology(allowed_cpus, "/sys");
  return read_synthetic_topology(synthetic_variable, description);
}

static topology_tree read_synthetic_topology(char const* from, char const* description) {
  throw std::invalid_argument{std::string{from} + " \"" + description +
                              "\" describes a machine, but this nopal was built without hwloc, which would understand it; unset it to use "
                              "the real machine, or build nopal with -DNOPAL_HWLOC=ON"};
}

#endif

// ---- The topology.

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
    std::size_t to = k;
    while (to + 1 < ascending.size() && ascending[to + 1] == ascending[to] + 1) ++to;
    if (!text.empty()) text += ',';
    text += std::to_string(ascending[k]);
    if (to > k) text.append(1, '-').append(std::to_string(ascending[to]));
    k = to + 1;
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
  all.reserve(n);
  for (unsigned k = 0; k < n; ++k) all.push_back(place::numa(k));
  return all;
}

}  // namespace nopal
