#pragma once

// The frame of every benchmark program: one kernel on one implementation, in a process of its own.
//
// A program names a problem, a runtime and the statement to time. The harness reads the command line, builds the runtime, lets it run the
// smoke size so that threads exist and code is warm, times the statement, lets the problem check its answer, and prints one line of JSON.
// Only the statement is timed.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "opaque.hpp"
#include "process.hpp"

namespace bench {

struct options {
  std::string size = "default";      // smoke, default, paper, or a number
  std::string tree = "T1";           // uts only
  std::string data = "ints";         // sort and stable_sort only
  std::string shape = "chain";       // flows only
  std::string resume = "anywhere";   // nopal only: which thread resumes a suspended stack
  std::string reclaim = "dontneed";  // nopal only: what becomes of a suspended stack's unused pages
  std::size_t kept_pages = 4;        // nopal only: of these, how many stay
  std::string idle = "lazy";         // nopal only, as are these two: pool_options of the same names
  std::string victims = "eq6";
  bool back_off = true;
  std::string simulate;  // nopal only: pool_options::simulate
  unsigned workers = 1;
  unsigned repeat = 1;
  std::size_t depth = 2;         // fibers_nqueens only
  std::size_t batch = 0;         // fibers_empty and fibers_park only; 0: all
  bool imbalanced = false;       // fibers_loops only
  bool steal = true;             // nopal only: pool_options::steal
  std::optional<bool> pin = {};  // nopal only: pool_options::pin
  bool sample = false;           // the figures of space that cost time: how deep forks nest, and nopal's stack pages as it runs

  // The same run at the size that tests use.
  [[nodiscard]] options smoke() const;
};

// The sizes that have a name.
struct named_sizes {
  std::size_t smoke;
  std::size_t standard;
  std::size_t paper;
};

// The number for `--size`; throws std::invalid_argument if it is neither a name nor a positive number.
[[nodiscard]] std::size_t pick(const options& opts, const named_sizes& sizes);

// A scheduler's own numbers, summed up since it began; of its stacks the most at any time, and the pages that they hold now.
struct scheduler_figures {
  std::uint64_t steals = 0;
  std::uint64_t steal_attempts = 0;
  std::uint64_t pauses = 0;  // of thieves that found nothing
  std::uint64_t suspensions = 0;
  std::uint64_t unmaps = 0;  // of stacks that wait, as the Fibril paper counts
  std::uint64_t purges = 0;  // of free stacks
  std::uint64_t pages_returned = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t stacks_peak = 0;
  std::uint64_t stack_pages = 0;
  std::uint64_t stack_pages_peak = 0;

  // The difference to `before`.
  [[nodiscard]] scheduler_figures since(const scheduler_figures& before) const;
};

// A simulated machine's own numbers, in its own time, summed up since it began. The sums are over all workers.
struct simulated_figures {
  double seconds = 0;
  double working = 0;
  double searching = 0;
  double waking = 0;
  double asleep = 0;
  std::vector<std::uint64_t> steals;  // by distance
  std::uint64_t lost_turns = 0;

  // The difference to `before`.
  [[nodiscard]] simulated_figures since(const simulated_figures& before) const;
};

// The effect of the timed statement on the process's memory.
struct memory_figures {
  long page_faults = 0;
  long rss_increase_kib = 0;  // at its highest, over what was resident before
};

// What a problem has measured itself, besides the time.
struct figure {
  std::string name;
  double value;
};

// One finished run, as it is printed.
struct record {
  std::string kernel;
  std::string impl;
  std::string size;
  unsigned workers;
  std::vector<double> seconds;  // one for each repetition
  bool ok;
  std::string answer;
  std::optional<scheduler_figures> scheduler = {};  // where the runtime counts
  std::uint64_t steals_in_all = 0;                  // likewise, while warming up, too
  std::optional<simulated_figures> simulated = {};  // then the seconds are its own
  memory_figures memory = {};
  long rss_before_kib = 0;                       // what was resident before anything was solved, and before the runtime was made
  std::optional<std::uint64_t> fork_depth = {};  // these two only where asked for
  std::optional<std::uint64_t> stack_pages_sampled = {};
  std::optional<std::size_t> fibers = {};  // these two where the problem tells them
  std::vector<figure> figures = {};
  std::string peer;  // the implementation's name and version
};

// Prints the record with what the harness adds: compiler and peak memory.
void print(const record& result);

// Reads the command line, with the options of nopal's own runtime if it is that, then runs `body` on a thread with a stack deep enough for
// plain recursion into the deepest tree; returns the exit status: 0, 1 for a wrong answer, 2 for an error.
int start(int argc, char** argv, const std::string& title, bool is_nopal, const std::function<bool(const options&)>& body);

// The stack for the deepest tree (99 049 levels) in any of the implementations that recurse natively.
inline constexpr std::size_t deep_stack = std::size_t{1} << 30;

// How long a runtime works before it is timed; in that time the system moves its threads to processors of their own. Tests cannot wait for
// that.
inline constexpr std::chrono::milliseconds warm_up{100};
inline constexpr std::chrono::milliseconds smoke_warm_up{20};

template <class T>
concept tells_figures = requires(const T& runtime) {
  { runtime.figures() } -> std::convertible_to<scheduler_figures>;
};

// A runtime with more options than its number of workers.
template <class T>
concept takes_options = std::constructible_from<T, const options&>;

// A runtime that may simulate a machine, and has times of its own there.
template <class T>
concept may_simulate = requires(const T& runtime) {
  { runtime.simulated() } -> std::same_as<std::optional<simulated_figures>>;
};

// A problem that knows how many forks nest at most on one path of its native program, in which k-way forks are k − 1 nested ones.
template <class T>
concept knows_depth = requires(const T& problem) { problem.fork_depth(); };

// A problem that knows into how many fibers its work is split.
template <class T>
concept counts_fibers = requires(const T& problem) { problem.fibers(); };

template <class T>
concept measures = requires(const T& problem) {
  { problem.figures() } -> std::convertible_to<std::vector<figure>>;
};

template <class Runtime>
Runtime make_runtime(const options& opts) {
  if constexpr (takes_options<Runtime>) {
    return Runtime{opts};
  } else {
    return Runtime{opts.workers};
  }
}

// Watches the process's memory from its construction on.
class memory_watch {
 public:
  memory_watch();
  // Adds the effects to `sum`; the increase is the largest of those added.
  void add_to(memory_figures& sum) const;
  // The process's highest since it began, which the watch must keep.
  static long peak_rss_kib();

 private:
  long faults_before_;
  long rss_before_;
};

// Reads a figure every millisecond, on a thread of its own, and keeps the highest.
class sampler {
 public:
  explicit sampler(std::function<std::uint64_t()> read);
  ~sampler() { stop(); }
  sampler(const sampler&) = delete;
  sampler& operator=(const sampler&) = delete;
  std::uint64_t stop();

 private:
  std::atomic<bool> stopped_{false};
  std::uint64_t highest_ = 0;
  std::thread thread_;
};

// A problem that must be reset before it can be solved again.
template <class T>
concept resettable = requires(T& problem) { problem.reset(); };

template <class Problem, class Runtime, class Statement>
int run(int argc, char** argv, const std::string& impl, Statement statement) {
  const std::string title = std::string{Problem::name} + " on " + impl;

  return start(argc, argv, title, takes_options<Runtime>, [&](const options& opts) {
    Problem problem{opts};
    const long rss_before = rss_kib();
    Runtime runtime = make_runtime<Runtime>(opts);
    Problem small{opts.smoke()};
    const auto warm = std::chrono::steady_clock::now() + (opts.size == "smoke" ? smoke_warm_up : warm_up);
    do {
      if constexpr (resettable<Problem>) small.reset();
      statement(runtime, small);
    } while (std::chrono::steady_clock::now() < warm);
    const bool warm_ok = small.correct();

    record result{.kernel = Problem::name,
                  .impl = impl,
                  .size = problem.size(),
                  .workers = opts.workers,
                  .seconds = {},
                  .ok = warm_ok,
                  .answer = {},
                  .rss_before_kib = rss_before,
                  .peer = Runtime::version()};

    scheduler_figures before;
    if constexpr (tells_figures<Runtime>) before = runtime.figures();
    const auto simulated = [&]() -> std::optional<simulated_figures> {
      if constexpr (may_simulate<Runtime>) return runtime.simulated();
      return std::nullopt;
    };
    const std::optional<simulated_figures> simulated_before = simulated();

    for (unsigned i = 0; i < opts.repeat; ++i) {
      if constexpr (resettable<Problem>) problem.reset();
      make_opaque(problem);
      std::optional<sampler> pages;
      if constexpr (requires { runtime.stack_pages(); })
        if (opts.sample) pages.emplace([&] { return runtime.stack_pages(); });
      const memory_watch memory;
      const std::optional<simulated_figures> here = simulated();
      const auto begin = std::chrono::steady_clock::now();
      statement(runtime, problem);
      make_opaque(problem);
      const auto end = std::chrono::steady_clock::now();
      memory.add_to(result.memory);
      if (pages) result.stack_pages_sampled = std::max(result.stack_pages_sampled.value_or(0), pages->stop());
      result.seconds.push_back(here ? simulated()->since(*here).seconds : std::chrono::duration<double>(end - begin).count());
      result.ok = problem.correct() && result.ok;
    }

    if constexpr (tells_figures<Runtime>) {
      const scheduler_figures after = runtime.figures();
      result.scheduler = after.since(before);
      result.steals_in_all = after.steals;
    }
    if (simulated_before) result.simulated = simulated()->since(*simulated_before);
    if constexpr (knows_depth<Problem>)
      if (opts.sample) result.fork_depth = problem.fork_depth();
    if constexpr (counts_fibers<Problem>) result.fibers = problem.fibers();
    if constexpr (measures<Problem>) result.figures = problem.figures();
    result.answer = problem.answer_text();
    print(result);
    return result.ok;
  });
}

}  // namespace bench
