#pragma once

// Lists of CPUs and of NUMA nodes as Linux writes them: "0-3,8,10-11". For cpus.cpp and topology.cpp, on any thread. Below: the CPUs that
// this process may use.

#include <sched.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Calls take(first, last) with each range of `list`, as long as it returns true. Returns false if it returned false, or if `list` is empty
/// or garbled. A range may be of any length: never count through one that was not compared with a bound.
template <class F>
bool for_each_range(std::string_view list, F&& take) {
  while (!list.empty() && (list.back() == '\n' || list.back() == ' ')) list.remove_suffix(1);
  auto const to_number = [](std::string_view text, std::int64_t& value) {
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && value >= 0;
  };
  for (;;) {
    auto const comma = std::min(list.find(','), list.size());
    auto const range = list.substr(0, comma);
    auto const dash = range.find('-');
    std::int64_t first = 0;
    if (!to_number(range.substr(0, dash), first)) return false;
    std::int64_t last = first;
    if (dash != range.npos && !to_number(range.substr(dash + 1), last)) return false;
    if (last < first || !take(first, last)) return false;
    if (comma == list.size()) return true;
    list.remove_prefix(comma + 1);
  }
}

// How many CPUs this process may really use: what the affinity mask holds and what the cgroup pays for, never the machine's count. For
// scheduler.cpp, when a pool is made, on any thread. README.md, "How many CPUs". Next: topology.hpp, where those CPUs are.

/// What the kernel allowed the calling thread when it was read.
struct cpu_limits {
  /// OS indices of the CPUs in the affinity mask, ascending, never empty.
  std::vector<int> cpus;
  /// CPUs' worth of time per second that the cgroup grants (1.5 is one and a half CPUs); infinity if nothing limits it.
  double quota = std::numeric_limits<double>::infinity();
  /// The mask holds every online CPU and the quota does not bind: only then do pools pin by default.
  bool whole_machine = false;

  /// How many threads can make progress at once: max(1, min(CPUs, quota rounded up)). A part of a CPU counts as one, since rounding down
  /// would leave paid time unused.
  unsigned usable() const noexcept;
};

/// Reads the limits of the calling thread. Never fails: what cannot be read does not limit. A few system calls and small files, well below
/// 0.1 ms.
cpu_limits read_cpu_limits();

/// The cgroup's CPU quota in CPUs, or infinity. `proc_self_cgroup` is a file like /proc/self/cgroup, `cgroup_root` a folder like
/// /sys/fs/cgroup.
///
/// Version 2: cpu.max of the group and of all its ancestors. Version 1: cpu.cfs_quota_us / cpu.cfs_period_us, likewise, in the hierarchy
/// that has the cpu controller. The smallest of all counts. The ancestors up to the root also serve a container that is given a path from
/// outside it and sees its own group mounted as the root. Files that are missing, garbled or not positive mean no limit; throws nothing but
/// std::bad_alloc.
double read_cgroup_quota(std::filesystem::path const& proc_self_cgroup, std::filesystem::path const& cgroup_root);

/// The signature of sched_getaffinity: 0, or -1 with errno.
using affinity_reader = int (*)(pid_t thread, std::size_t bytes, cpu_set_t* mask);

/// The CPUs in the calling thread's affinity mask, ascending. The mask given to `read` starts at 1024 CPUs and doubles on EINVAL, by which
/// kernels made for more CPUs say that it is too short. Empty if it cannot be read.
std::vector<int> read_affinity(affinity_reader read = ::sched_getaffinity);

/// True if `cpus` (ascending) holds every CPU of `list`, which is in the kernel's format: "0-3,8,10-11". False if the list is empty or
/// garbled.
bool holds_every_cpu(std::vector<int> const& cpus, std::string_view list);

// A CPU of its own for a worker's thread, by pool_options::pin. The thread is bound to it at most while it sleeps: so what a task starts,
// threads and processes, never inherits a mask of one CPU. README.md, "A CPU of its own". Next: ../scheduler/scheduler.hpp, where a thread
// begins; src/scheduler/search.cpp, where it sleeps.

/// An affinity mask for more CPUs than any kernel is made for.
struct cpu_mask {
  std::array<cpu_set_t, 16> sets{};

  static constexpr std::size_t bytes = sizeof(cpu_set_t) * 16;
};

/// Moves the calling thread to `cpu`, and leaves its affinity mask as it was. Returns 0; or an error number, and the thread stays where it
/// is: EINVAL if the CPU is not in its mask. The system may move the thread again. Some 10 us.
NOPAL_COLD int move_to_cpu(int cpu) noexcept;

/// From now on the calling thread, and what it starts, runs on these CPUs. Changes nothing if there are none or the system does not allow
/// it.
NOPAL_COLD void keep_to_cpus(std::vector<int> const& cpus) noexcept;

/// While it exists, the thread that made it is bound to one CPU of its mask, if possible. The thread only sleeps in that time. Afterwards
/// it has its mask again, unless another thread or process has set a new one. Four system calls in all.
class bound_to_cpu {
 public:
  explicit bound_to_cpu(int cpu) noexcept;
  bound_to_cpu(bound_to_cpu const&) = delete;
  bound_to_cpu& operator=(bound_to_cpu const&) = delete;
  ~bound_to_cpu();

 private:
  cpu_mask before_;
  cpu_mask one_;
  bool bound_ = false;
};

// How many threads this process may still start, by the limits of the system, the user, the cgroup and the address space. For
// scheduler.cpp, when a pool is made or cannot be, on any thread. README.md, "How many threads". Above: how many can run.

/// One limit, and how much of it is used.
struct thread_limit {
  std::string name;    ///< its name in the system: of its file or command
  std::string unit;    ///< what it counts
  std::string remedy;  ///< how to raise it
  std::uint64_t most;
  std::uint64_t used;
  std::uint64_t each;  ///< what one more worker's thread needs of it, at least

  /// How many more threads fit.
  std::uint64_t room() const noexcept { return used < most ? (most - used) / each : 0; }
  /// "N is M units, of which K are in use": the beginning of a message.
  std::string in_words() const;
};

/// The folders from which the limits are read: tests set others.
struct limit_files {
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
};

/// All limits that can be read; others do not limit. Some files, of which /proc/self/maps has a line for each mapping: 1 ms for ten
/// thousand of these. Throws std::bad_alloc.
std::vector<thread_limit> read_thread_limits(limit_files const& where = {});

/// The limit that leaves the least room, if that is less than `threads`.
std::optional<thread_limit> limit_below(std::vector<thread_limit> const& limits, std::uint64_t threads);

// How much memory this process may use. For scheduler.cpp, when a pool is made.

/// The limit of a pool in bytes. `asked`: pool_options::memory_limit. 0: NOPAL_MEMORY_LIMIT, in MiB; if that is unset, empty or 0, half of
/// what the process may use. Throws std::invalid_argument for any other value of it, std::bad_alloc.
std::uint64_t choose_memory_limit(std::size_t asked);

/// The least of the machine's memory, that of the process's cgroups, RLIMIT_AS and RLIMIT_DATA, in bytes. Throws std::bad_alloc.
std::uint64_t usable_memory();

}  // namespace nopal::core
