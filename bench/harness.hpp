#pragma once

// The frame of every benchmark program: one kernel on one implementation, in a process of its own.
//
// A program names a problem, a runtime and the statement to be timed. The harness reads the command line, builds the
// runtime, lets it run the smoke size so that threads exist and code is warm, times the statement, has the problem
// check its answer, and prints one line of JSON. What is not the statement is not in the time.

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "opaque.hpp"

namespace bench {

struct options {
  std::string size = "default";  // smoke, default, paper, or a number
  std::string tree = "T1";       // uts only
  unsigned workers = 1;
  unsigned repeat = 1;

  // The same run at the size that tests use.
  [[nodiscard]] options smoke() const;
};

// The sizes that have a name.
struct named_sizes {
  std::size_t smoke;
  std::size_t standard;
  std::size_t paper;
};

// The number behind `--size`; throws std::invalid_argument for what is neither a name nor a positive number.
[[nodiscard]] std::size_t pick(const options& opts, const named_sizes& sizes);

// One finished run, as it is printed.
struct record {
  std::string kernel;
  std::string impl;
  std::string size;
  unsigned workers;
  std::vector<double> seconds;  // one for each repetition
  bool ok;
  std::string answer;
  std::optional<std::uint64_t> steals;  // where the runtime counts them
  std::string peer;                     // the implementation's name and version
};

// Prints the record with what the harness knows itself: compiler and peak memory.
void print(const record& result);

// Reads the command line, then runs `body` on a thread whose stack is deep enough for plain recursion into the deepest
// tree; returns the exit status: 0, 1 for a wrong answer, 2 for an error.
int start(int argc, char** argv, const std::string& title, const std::function<bool(const options&)>& body);

// What a stack needs for the deepest tree (99 049 levels) in any of the implementations that recurse natively.
inline constexpr std::size_t deep_stack = std::size_t{1} << 30;

// How long a runtime works before it is timed; by then the system has moved its threads to processors of their own.
inline constexpr std::chrono::milliseconds warm_up{100};

template <class T>
concept counts_steals = requires(const T& runtime) {
  { runtime.steals() } -> std::convertible_to<std::uint64_t>;
};

// A problem that has to be put back before it can be solved again.
template <class T>
concept resettable = requires(T& problem) { problem.reset(); };

template <class Problem, class Runtime, class Statement>
int run(int argc, char** argv, const std::string& impl, Statement statement) {
  const std::string title = std::string{Problem::name} + " on " + impl;

  return start(argc, argv, title, [&](const options& opts) {
    Problem problem{opts};
    Runtime runtime{opts.workers};
    Problem small{opts.smoke()};
    const auto warm = std::chrono::steady_clock::now() + warm_up;
    do {
      if constexpr (resettable<Problem>) small.reset();
      statement(runtime, small);
    } while (std::chrono::steady_clock::now() < warm);

    record result{.kernel = Problem::name,
                  .impl = impl,
                  .size = problem.size(),
                  .workers = opts.workers,
                  .seconds = {},
                  .ok = true,
                  .answer = {},
                  .steals = {},
                  .peer = Runtime::version()};

    std::uint64_t steals_before = 0;
    if constexpr (counts_steals<Runtime>) steals_before = runtime.steals();

    for (unsigned i = 0; i < opts.repeat; ++i) {
      if constexpr (resettable<Problem>) problem.reset();
      make_opaque(problem);
      const auto begin = std::chrono::steady_clock::now();
      statement(runtime, problem);
      make_opaque(problem);
      const auto end = std::chrono::steady_clock::now();
      result.seconds.push_back(std::chrono::duration<double>(end - begin).count());
      result.ok = problem.correct() && result.ok;
    }

    if constexpr (counts_steals<Runtime>) result.steals = runtime.steals() - steals_before;
    result.answer = problem.answer_text();
    print(result);
    return result.ok;
  });
}

}  // namespace bench
