#include "machine/linux_topology.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/read_text.hpp"
#include "nopal/core/machine/cpus.hpp"

namespace nopal::inline NOPAL_ABI::core {
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

std::optional<topology_tree> read_linux_topology(std::vector<int> const& allowed_cpus, std::string const& sys) {
  return linux_reader{allowed_cpus, sys}.read();
}

}  // namespace nopal::core
