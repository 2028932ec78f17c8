// The control groups of this process, of both versions: the folders with the files of a group's limits. When a pool is made, on any thread.
// Below: CPUs, and threads.

#include "nopal/core/machine/cpus.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "base/read_text.hpp"
#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Calls at(folder, version) for each folder that may hold the files of `controller` ("cpu"): the group's, and its ancestors' up to the
/// root. `proc_self_cgroup` is a file like /proc/self/cgroup, `root` a folder like /sys/fs/cgroup. Version 2: the one hierarchy. Version 1:
/// the one that has the controller. The ancestors up to the root also serve a container that is given a path from outside it and sees its
/// own group mounted as the root. A folder may be missing. Garbled lines are skipped.
static void for_each_cgroup(std::string const& proc_self_cgroup, std::string const& root, std::string_view controller,
                            std::function<void(std::string const& folder, int version)> const& at);

namespace {

using at_group = std::function<void(std::string const& folder, int version)>;

// Files are named by strings here: libstdc++ 12 destroys a std::filesystem::path twice if its /= finds no memory.

/// The path of a group without dots, as "/a/b", or "" for the root. Nothing for one above the root.
std::optional<std::string> normal(std::string_view group) {
  std::string path;
  while (!group.empty()) {
    auto const slash = std::min(group.find('/'), group.size());
    auto const name = group.substr(0, slash);
    group.remove_prefix(std::min(slash + 1, group.size()));
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      path.append("/").append(name);
    } else if (path.empty()) {
      return std::nullopt;
    } else {
      path.resize(path.rfind('/'));
    }
  }
  return path;
}

/// From `group` up to and including `root`.
void up_from(std::string const& root, std::string_view group, int version, at_group const& at) {
  // A process outside the root of its cgroup namespace is given a path like /../other: nothing of it can be seen from here.
  std::optional<std::string> below = normal(group);
  if (!below) return;
  for (;; below->resize(below->rfind('/'))) {
    at(root + *below, version);
    if (below->empty()) return;
  }
}

bool names(std::string_view controllers, std::string_view one) {
  while (!controllers.empty()) {
    auto const comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == one) return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

static void for_each_cgroup(std::string const& proc_self_cgroup, std::string const& root, std::string_view controller, at_group const& at) {
  std::ifstream groups{proc_self_cgroup};
  // Each line is hierarchy:controllers:group; the group may hold colons of its own.
  for (std::string text; std::getline(groups, text);) {
    std::string_view const line = text;
    auto const first = line.find(':');
    if (first == line.npos) continue;
    auto const second = line.find(':', first + 1);
    if (second == line.npos) continue;
    auto const controllers = line.substr(first + 1, second - first - 1);
    auto const group = line.substr(second + 1);

    if (line.substr(0, first) == "0" && controllers.empty()) {
      up_from(root, group, 2, at);
      up_from(root + "/unified", group, 2, at);  // systemd's hybrid of both versions
    } else if (names(controllers, controller)) {
      // The folder is named for all controllers of the hierarchy, with a link for each alone; either may be missing.
      up_from((root + "/").append(controllers), group, 1, at);
      if (controllers != controller) up_from((root + "/").append(controller), group, 1, at);
    }
  }
}

// ---- CPUs.

namespace {

namespace fs = std::filesystem;

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Both are in microseconds. A quota of -1 or "max" is the kernel's "no limit"; other text that fails here is garbled.
double quota_of(std::string_view quota, std::string_view period) {
  std::int64_t granted = 0;
  std::int64_t every = 0;
  if (!read_all(quota, granted) || !read_all(period, every) || granted <= 0 || every <= 0) return unlimited;
  return static_cast<double>(granted) / static_cast<double>(every);
}

// Files are named by strings here: libstdc++ 12 destroys a std::filesystem::path twice if its /= finds no memory.
std::string first_word(std::string const& file) {
  std::string word;
  std::ifstream{file} >> word;
  return word;
}

double quota_v2(std::string const& group) {
  std::string quota, period;
  std::ifstream{group + "/cpu.max"} >> quota >> period;
  return quota_of(quota, period);
}

double quota_v1(std::string const& group) {
  return quota_of(first_word(group + "/cpu.cfs_quota_us"), first_word(group + "/cpu.cfs_period_us"));
}

std::vector<int> first_cpus(unsigned count) {
  std::vector<int> cpus(std::max(1u, count));
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

}  // namespace

unsigned cpu_limits::usable() const noexcept {
  double const most = std::min(static_cast<double>(cpus.size()), std::ceil(quota));
  return most > 1 ? static_cast<unsigned>(most) : 1;
}

double read_cgroup_quota(fs::path const& proc_self_cgroup, fs::path const& cgroup_root) {
  double quota = unlimited;
  for_each_cgroup(proc_self_cgroup.native(), cgroup_root.native(), "cpu", [&](std::string const& group, int version) {
    quota = std::min(quota, version == 2 ? quota_v2(group) : quota_v1(group));
  });
  return quota;
}

std::vector<int> read_affinity(affinity_reader read) {
  constexpr int most_cpus = 1 << 22;  // far beyond any kernel: a reader that always returns EINVAL must not loop for ever
  for (int room = CPU_SETSIZE; room <= most_cpus; room *= 2) {
    struct mask_free {
      void operator()(cpu_set_t* mask) const { CPU_FREE(mask); }
    };
    auto const slots = static_cast<std::size_t>(room);
    std::unique_ptr<cpu_set_t, mask_free> const mask{CPU_ALLOC(slots)};
    if (!mask) return {};
    std::size_t const bytes = CPU_ALLOC_SIZE(slots);
    CPU_ZERO_S(bytes, mask.get());
    if (read(0, bytes, mask.get()) == 0) {
      std::vector<int> cpus;
      for (std::size_t cpu = 0; cpu < slots; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, mask.get())) cpus.push_back(static_cast<int>(cpu));
      }
      return cpus;
    }
    if (errno != EINVAL) return {};
  }
  return {};
}

bool holds_every_cpu(std::vector<int> const& cpus, std::string_view list) {
  return for_each_range(list, [&](std::int64_t first, std::int64_t last) {
    for (auto cpu = first; cpu <= last; ++cpu) {
      if (!std::binary_search(cpus.begin(), cpus.end(), cpu)) return false;
    }
    return true;
  });
}

cpu_limits read_cpu_limits() {
  cpu_limits limits;
  limits.cpus = read_affinity();
  if (limits.cpus.empty()) limits.cpus = first_cpus(std::thread::hardware_concurrency());
  limits.quota = read_cgroup_quota("/proc/self/cgroup", "/sys/fs/cgroup");
  bool const every_cpu = holds_every_cpu(limits.cpus, first_word("/sys/devices/system/cpu/online"));
  limits.whole_machine = every_cpu && limits.quota >= static_cast<double>(limits.cpus.size());
  return limits;
}

namespace {

bool holds(cpu_mask const& m, int cpu) noexcept { return CPU_ISSET_S(static_cast<std::size_t>(cpu), cpu_mask::bytes, m.sets.data()); }
bool equal(cpu_mask const& a, cpu_mask const& b) noexcept { return CPU_EQUAL_S(cpu_mask::bytes, a.sets.data(), b.sets.data()); }

int read_mask(cpu_mask& m) noexcept { return ::sched_getaffinity(0, cpu_mask::bytes, m.sets.data()) == 0 ? 0 : errno; }
// Restoring a mask fails only if a cpuset has lost all of its CPUs since: then the kernel has chosen others already.
int set_mask(cpu_mask const& m) noexcept { return ::sched_setaffinity(0, cpu_mask::bytes, m.sets.data()) == 0 ? 0 : errno; }

cpu_set_t all_cpus() noexcept {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  return all;
}
void add(cpu_mask& m, int cpu) noexcept { CPU_SET_S(static_cast<std::size_t>(cpu), cpu_mask::bytes, m.sets.data()); }

/// The mask of the calling thread, and that of `cpu` alone. Returns 0, or an error number.
int read_masks(int cpu, cpu_mask& now, cpu_mask& one) noexcept {
  if (int const error = read_mask(now); error != 0) return error;
  if (!holds(now, cpu)) return EINVAL;
  add(one, cpu);
  return 0;
}

}  // namespace

// A mask of its own would be the thread's for ever, and would keep it from CPUs that come online later, or that a cpuset gets: so it gets
// that of all CPUs back, which the kernel narrows, unless it had a narrower one. If another thread has set the mask meanwhile, that stays.
int move_to_cpu(int cpu) noexcept {
  int const error_number = errno;
  cpu_mask before, one, now;
  int error = read_masks(cpu, before, one);
  // Not by set_mask: this is the call that tests/faults counts, one for each worker as its thread begins.
  if (error == 0) error = ::pthread_setaffinity_np(::pthread_self(), cpu_mask::bytes, one.sets.data());
  if (error == 0 && read_mask(now) == 0 && equal(now, one)) {
    cpu_mask all;
    all.sets.fill(all_cpus());
    if (set_mask(all) != 0 || read_mask(now) != 0 || !equal(now, before)) set_mask(before);
  }
  errno = error_number;
  return error;
}

void keep_to_cpus(std::vector<int> const& cpus) noexcept {
  cpu_mask these;
  for (int const cpu : cpus) add(these, cpu);
  if (!cpus.empty()) set_mask(these);
}

bound_to_cpu::bound_to_cpu(int cpu) noexcept : bound_{read_masks(cpu, before_, one_) == 0 && set_mask(one_) == 0} {}

bound_to_cpu::~bound_to_cpu() {
  cpu_mask now;
  if (bound_ && read_mask(now) == 0 && equal(now, one_)) set_mask(before_);
}

// ---- Threads.

namespace {

// Each worker has the stack of its thread, that thread's alternate stack, a deque and a ring, each with a guard page, which is a mapping of
// its own. Its native stacks are not counted: how many mappings they take depends on the kernel.
constexpr std::uint64_t mappings_each = 8;

template <class Number = std::uint64_t>
std::optional<Number> number_in(std::string const& file) {
  std::ifstream in{file};
  Number n{};
  return in >> n ? std::optional{n} : std::nullopt;
}

// Number of lines of a file, in a buffer of its own: if there is no room for another mapping there may be no memory for a stream's.
std::optional<std::uint64_t> lines_in(std::string const& file) noexcept {
  int const in = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return {};
  std::uint64_t lines = 0;
  std::array<char, 4096> part;
  ssize_t n = 0;
  while ((n = ::read(in, part.data(), part.size())) > 0) {
    lines += static_cast<std::uint64_t>(std::count(part.begin(), part.begin() + n, '\n'));
  }
  ::close(in);
  return lines;
}

// The number behind `key` in a file like /proc/self/status.
std::optional<std::uint64_t> field_in(std::string const& file, std::string_view key, int base) {
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    auto const from = line.find_first_not_of(" \t", key.size());
    if (from == line.npos) return {};
    std::uint64_t n = 0;
    auto const [end, error] = std::from_chars(line.data() + from, line.data() + line.size(), n, base);
    return error == std::errc{} ? std::optional{n} : std::nullopt;
  }
  return {};
}

// Number of threads in the system: /proc/loadavg is "0.1 0.2 0.3 running/all last".
std::uint64_t threads_of_all(std::string const& proc) {
  std::ifstream in{proc + "/loadavg"};
  std::string skipped, counts;
  in >> skipped >> skipped >> skipped >> counts;
  std::uint64_t n = 0;
  if (auto const slash = counts.find('/'); slash != counts.npos) {
    std::from_chars(counts.data() + slash + 1, counts.data() + counts.size(), n);
  }
  return n;
}

// True if the kernel allows this process's user any number of threads: root, and a process that may raise the limit.
bool may_exceed_nproc(std::string const& proc) {
  constexpr unsigned sys_admin = 21, sys_resource = 24;
  std::uint64_t const may = field_in(proc + "/self/status", "CapEff:", 16).value_or(0);
  return ::getuid() == 0 || ((may >> sys_admin | may >> sys_resource) & 1) != 0;
}

std::uint64_t thread_stack_bytes() {
  pthread_attr_t now;
  if (::pthread_attr_init(&now) != 0) return 0;
  std::size_t n = 0;
  ::pthread_attr_getstacksize(&now, &n);
  ::pthread_attr_destroy(&now);
  return n;
}

}  // namespace

std::string thread_limit::in_words() const {
  std::string text = name;
  text.append(" is ").append(std::to_string(most)).append(" ").append(unit);
  return text.append(", of which ").append(std::to_string(used)).append(" are in use");
}

std::vector<thread_limit> read_thread_limits(limit_files const& where) {
  std::vector<thread_limit> limits;
  std::string const& proc = where.proc;
  std::uint64_t const all = threads_of_all(proc);
  if (auto const most = number_in(proc + "/sys/kernel/threads-max")) {
    limits.push_back({"kernel.threads-max", "threads of the whole system", "raise it with sysctl", *most, all, 1});
  }
  if (auto const most = number_in(proc + "/sys/kernel/pid_max")) {
    limits.push_back({"kernel.pid_max", "threads and processes of the whole system", "raise it with sysctl", *most, all, 1});
  }
  if (auto const most = number_in(proc + "/sys/vm/max_map_count")) {
    limits.push_back({"vm.max_map_count", "mappings of this process", "raise it with sysctl", *most,
                      lines_in(proc + "/self/maps").value_or(0), mappings_each});
  }
  std::uint64_t const own = field_in(proc + "/self/status", "Threads:", 10).value_or(0);
  rlimit r{};
  if (::getrlimit(RLIMIT_NPROC, &r) == 0 && r.rlim_cur != RLIM_INFINITY && !may_exceed_nproc(proc)) {
    limits.push_back({"RLIMIT_NPROC", "threads of this user", "raise it with ulimit -u", r.rlim_cur, own, 1});
  }
  if (::getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY) {
    std::uint64_t const used = field_in(proc + "/self/status", "VmSize:", 10).value_or(0) * 1024;
    limits.push_back({"RLIMIT_AS", "bytes of address space of this process", "raise it with ulimit -v, or lower ulimit -s and stack_size",
                      r.rlim_cur, used, std::max<std::uint64_t>(1, thread_stack_bytes())});
  }
  for_each_cgroup(proc + "/self/cgroup", where.cgroups, "pids", [&](std::string const& group, int) {
    if (auto const most = number_in(group + "/pids.max")) {  // no number is "max": no limit
      limits.push_back({group + "/pids.max", "threads and processes of this cgroup", "raise it for the cgroup or container", *most,
                        number_in(group + "/pids.current").value_or(own), 1});
    }
  });
  return limits;
}

std::optional<thread_limit> limit_below(std::vector<thread_limit> const& limits, std::uint64_t threads) {
  auto const least =
      std::min_element(limits.begin(), limits.end(), [](thread_limit const& a, thread_limit const& b) { return a.room() < b.room(); });
  if (least == limits.end() || least->room() >= threads) return {};
  return *least;
}

std::uint64_t choose_memory_limit(std::size_t asked) {
  if (asked != 0) return asked;
  char const* const text = std::getenv("NOPAL_MEMORY_LIMIT");  // NOLINT(concurrency-mt-unsafe): the environment must not change meanwhile
  std::uint64_t n = 0;
  if (text != nullptr && *text != '\0') {
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    if (!read_all(text, n) || n > most) {
      throw std::invalid_argument("nopal::pool: NOPAL_MEMORY_LIMIT = \"" + std::string{text} + "\" is no number of MiB from 1 to " +
                                  std::to_string(most) + "; write one, or unset it: half of the memory that the process may use then");
    }
  }
  return n != 0 ? n << 20 : usable_memory() / 2;
}

std::uint64_t usable_memory() {
  std::uint64_t least = ~std::uint64_t{0};
  auto const pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) least = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  for (auto const what : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit l{};
    if (::getrlimit(what, &l) == 0 && l.rlim_cur != RLIM_INFINITY) least = std::min<std::uint64_t>(least, l.rlim_cur);
  }
  for_each_cgroup("/proc/self/cgroup", "/sys/fs/cgroup", "memory", [&](std::string const& folder, int version) {
    std::ifstream in{folder + (version == 2 ? "/memory.max" : "/memory.limit_in_bytes")};
    if (std::uint64_t most = 0; in >> most && most != 0) least = std::min(least, most);  // "max" is no number
  });
  return least;
}

}  // namespace nopal::core
