#pragma once

// pool_options: how a pool is made. Plain data.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "nopal/core/base/tuning.hpp"
#include "nopal/cpu_limit.hpp"
#include "nopal/place.hpp"

namespace nopal::inline NOPAL_ABI {

/// What a worker does when it finds nothing. Visible work is a job or a fiber that waits for a worker, and a job that runs, from its first
/// fork until it ends or waits: a job that has not forked has nothing to share.
enum class idle {
  lazy,  ///< sleeps, after a search of 0.2 ms; but while there is visible work the last worker of a NUMA node that searches goes on
  busy,  ///< keeps searching: the lowest latency, but it takes the CPU
};

/// How the unused pages of a native stack go back to the system, when the stack is left at a join or is free again.
enum class reclaim {
  dontneed,  ///< madvise(MADV_DONTNEED)
  free,      ///< madvise(MADV_FREE): the system takes them when it needs memory
  remap,     ///< mmap over them
  none,      ///< not at all: they stay until the stack ends, since the pool has more free ones than it needs
};

/// Which thread resumes a native stack that waited: core/stack/stays.md.
enum class resume {
  anywhere,  ///< any worker's thread, as soon as it can run again
  home,      ///< only the thread that left it. While a stack waits at a join, its thread runs nothing but what descends from that join
};

/// Which worker a thief tries next.
enum class victims {
  by_distance,  ///< drawn at random, near ones more often than far ones: Eq. (6), core/machine/README.md
  uniform,      ///< drawn at random, all alike
  scan,         ///< one after the other, every time from the first worker on
};

/// Which worker runs when, and which steals what.
enum class schedule {
  free,             ///< as the machine has it
  steal_always,     ///< for tests: one worker runs at a time, and forks are stolen at once while another worker is idle
  steal_never,      ///< for tests: one worker runs at a time, and nothing is stolen at a fork
  steal_at_random,  ///< for tests: one worker runs at a time, and `seed` decides which, and what is stolen. An equal seed gives an equal
                    ///< run, unless that depends on time or on other threads
  by_priority,  ///< for tests: one worker runs at a time, the one that `seed` has given the highest priority of those that can run; at a
                ///< few steps, drawn beforehand, the running one falls behind all others: docs/debugging.md
};

class event_source;

/// Options for experiments and tests, and for libraries that bring events. They may change with any version.
struct experimental_options {
  /// False: no worker steals from another, so every task stays on the worker where it began, unless it moves itself.
  bool steal = true;
  /// Which worker a thief tries next. All but `by_distance` is for experiments: a scan sends all thieves to the same victim at once.
  nopal::victims victims = nopal::victims::by_distance;
  /// False: a thief that has found nothing searches again without a pause. For experiments: thieves get into each other's way.
  bool back_off = true;
  /// Decides in which order workers try to steal from others, and a controlled schedule.
  std::uint64_t seed = 0;
  /// If it is `free`, the environment variable NOPAL_SCHEDULE may set another: always, never, random, random:SEED, pct:SEED, or the result
  /// of ./nopal shrink (only:…): docs/debugging.md; simulate:MACHINE: `simulate`, below. Any other text there throws std::invalid_argument.
  nopal::schedule schedule = nopal::schedule::free;
  /// Another machine than this one, which the pool simulates: "128" CPUs, "2x56" NUMA nodes and cores, or any text of hwloc's for
  /// HWLOC_SYNTHETIC. Its workers, one for each CPU there unless `workers` or NOPAL_WORKERS sets their number, run one at a time, each in a
  /// time of its own: docs/simulation.md. Empty: NOPAL_SCHEDULE=simulate:MACHINE may set it, if `schedule` is free. Any other text, or a
  /// `schedule` beside it, throws std::invalid_argument.
  std::string simulate = {};
  /// How the unused pages of native stacks go back to the system.
  nopal::reclaim reclaim = nopal::reclaim::dontneed;
  /// So many topmost pages of a native stack stay when it waits at a join, with frames on them or not. 0: only pages with frames stay, as in
  /// the Fibril paper: less memory for programs whose joins wait on many shallow stacks, but each of these waits is one system call more,
  /// and two page faults or so.
  std::size_t pages_kept_at_join = core::tuning::pages_kept_at_join;
  /// Which worker a thief tries next, instead of `victims`: called by the thief, each time, with its index, the number of workers and a
  /// random number. A result that is no index of another worker means none, this time. It must return each other worker again and again:
  /// the thief may be the only one that is awake. It must not fork, wait or throw.
  std::function<unsigned(unsigned thief, unsigned workers, std::uint64_t random)> choose_victim = {};
  /// What brings events from outside of the pool, and where a worker waits that has nothing to do: event_source.hpp. Null: nothing,
  /// unless a companion brings one. A pool whose schedule is not free looks there each one to four milliseconds, and never waits; beside
  /// `simulate` it throws std::invalid_argument. No external caller of pool::run works in the place of the worker that waits there.
  std::shared_ptr<event_source> events = {};
};

/// How a pool is made. Its constructor checks all of it: it throws std::invalid_argument for what cannot be met, with what to write
/// instead.
struct pool_options {
  /// Number of workers, at most 16384. 0: that of the environment variable NOPAL_WORKERS, from 1 to 16384; if that is unset, empty or 0, as
  /// many as the CPUs that this process may really use, by affinity mask and cgroup quota.
  unsigned workers = 0;
  nopal::idle idle = nopal::idle::lazy;
  /// Whether each worker keeps to a CPU of its own: its thread begins there, and is bound to it whenever it sleeps, so that it wakes up
  /// there. While it works it has the affinity mask of the thread that made the pool, and the system may move it: what a task starts
  /// (threads, processes, other pools and runtimes) may run on all of these CPUs. Unset: yes if this process may use the whole machine,
  /// there are no more workers than CPUs, and no other pool of the process does so by default. `true` with more workers than CPUs throws.
  /// A thread outside that calls a pinned pool may be moved once to another CPU of its mask, where the one that it runs on has a worker that
  /// is awake; in a pool that is not pinned, unless `false` says so, a worker moves before it sleeps where another one sleeps.
  /// It matters for jobs that come after a rest: with `false` one of some 20 us is answered sooner, since the system may wake a worker
  /// where that is cheap, beside the caller; a longer one runs in parallel sooner with `true`. A job of milliseconds takes as long with
  /// either.
  std::optional<bool> pin = {};
  /// The part of the machine on which the pool works: place.hpp. By default it has a worker for each CPU there. Its workers' threads, and what
  /// they start, run on these CPUs only, if the system does not refuse it; a thread outside that calls pool::run works in the place of a
  /// worker only if it runs on one of them then.
  /// Throws std::invalid_argument for a place that is not there.
  nopal::place place = {};
  /// How many workers of all pools with this limit may run at a time: cpu_limit.hpp. By default all of them.
  std::optional<nopal::cpu_limit> limit = {};
  /// How long a lazy worker that finds nothing keeps searching before it sleeps, if that is more than the default of 0.2 ms: so that loops
  /// and jobs which come again after a pause find it awake. It uses a CPU in that time, though it yields to other threads. Below 0 throws.
  /// (Of default_pool(): NOPAL_KEEP_WARM, in milliseconds.)
  std::chrono::nanoseconds keep_warm{0};
  /// Bytes of virtual memory for each native stack: 64 KiB to 1 TiB, rounded up to a power of two.
  std::size_t stack_size = std::size_t{1} << 20;
  /// How many bytes of memory the pool's native stacks and task frames may hold. A recursion without an end grows them until the pool holds
  /// more: then it ends the program with a message, before the machine runs out of memory. 0: the environment variable NOPAL_MEMORY_LIMIT,
  /// in MiB; if that is unset, empty or 0, half of what the process may use by the machine's memory, its cgroup and its limits (ulimit -v,
  /// -d). Any other text there throws. A stack counts from its top as far down as it was used without a gap of 2 MiB.
  std::size_t memory_limit = 0;
  /// Deprecated, as all that say so: the earlier name of a member of `experimental`. It counts if `experimental` has its default.
  NOPAL_DEPRECATED("write .experimental = {.reclaim = ...}") nopal::reclaim reclaim = nopal::reclaim::dontneed;
  /// Which thread resumes a native stack that has waited. `home` for code whose callers, between nopal's frames, keep something of their
  /// thread: a lock, a library with a record of its own for each thread (oneTBB, OpenMP, Python), errno. A worker is idle while a join's
  /// children run elsewhere and offer nothing, and pool::run from outside hands each job over to a worker's thread. `nopal::stay` does the
  /// same for a stretch of code. Coroutine tasks move in any case.
  nopal::resume resume = nopal::resume::anywhere;
  NOPAL_DEPRECATED("write .experimental = {.steal = ...}") bool steal = true;                                       ///< deprecated
  NOPAL_DEPRECATED("write .experimental = {.victims = ...}") nopal::victims victims = nopal::victims::by_distance;  ///< deprecated
  NOPAL_DEPRECATED("write .experimental = {.back_off = ...}") bool back_off = true;                                 ///< deprecated
  NOPAL_DEPRECATED("write .experimental = {.seed = ...}") std::uint64_t seed = 0;                                   ///< deprecated
  NOPAL_DEPRECATED("write .experimental = {.schedule = ...}") nopal::schedule schedule = nopal::schedule::free;     ///< deprecated
  NOPAL_DEPRECATED("write .experimental = {.simulate = ...}") std::string simulate = {};                            ///< deprecated
  /// The name of the pool in its reports, and of its threads in top, gdb and perf: name:0, name:1, … and name:timer. The system keeps 15
  /// characters of a thread's name: a longer one loses the end of `name`, never what follows it. Empty: the threads keep the name of the
  /// thread that made them. A control character in it throws.
  std::string name = "nopal";
  /// The file into which the pool writes, at its end, what its workers did, for Perfetto's viewer: docs/trace.md. %p in it stands for the
  /// number of the process. Empty: the environment variable NOPAL_TRACE; if that is unset or empty, nothing is recorded. A file that cannot
  /// be written makes the pool's constructor throw std::system_error.
  std::string trace = {};
  /// How many events of each worker a trace keeps, the last ones, of 32 bytes each; rounded up to a power of two. If NOPAL_TRACE names the
  /// file, NOPAL_TRACE_EVENTS overrides it, if set. All but a number from 1 to 2^30 throws std::invalid_argument.
  std::size_t trace_events = std::size_t{1} << 16;
  /// Called with its index by each worker's thread, before it runs anything, and when it ends: on that thread, and off the pool, by
  /// pool::current(). The pool may not be complete then, so they must not use it. What they throw ends the program with a message. A thread
  /// that calls pool::run and works in the place of a worker calls neither. If nopal::shutdown has ended the default pool's threads, each
  /// new thread calls them again.
  std::function<void(unsigned worker)> on_thread_start = {};
  std::function<void(unsigned worker)> on_thread_stop = {};
  /// How many threads of their own the pool's nopal::block_on may have at once: at least 1. They are started when they are needed, and end
  /// with the pool. More callers wait for one.
  unsigned blocking_threads = 64;
  /// For experiments, for tests, and for libraries that bring events.
  experimental_options experimental = {};
};

}  // namespace nopal
