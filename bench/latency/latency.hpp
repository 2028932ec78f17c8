#pragma once

// Small jobs: the cost of one call from a thread outside the pool, from giving the job to the pool to having its answer. The job is nothing
// at all, or a fork-join tree with leaves that spin for a known time; the caller calls again at once, or after a rest in which the workers
// may have fallen asleep.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "../opaque.hpp"

namespace bench {

struct job {
  std::size_t leaves = 0;
  std::size_t spins = 0;  // in each leaf

  // The work of one leaf: a chain of arithmetic that no compiler shortens.
  [[nodiscard]] std::uint64_t leaf(std::size_t index) const {
    std::uint64_t state = index;
    for (std::size_t i = 0; i < spins; ++i) state = (state ^ state >> 29) * 0x9e3779b97f4a7c15u + 1;
    return state;
  }
};

// The leaves from `first` to before `last`.
struct leaf_range {
  std::size_t first;
  std::size_t last;

  [[nodiscard]] bool empty() const { return first == last; }
  [[nodiscard]] bool single() const { return last - first == 1; }
  [[nodiscard]] leaf_range left() const { return {first, first + (last - first) / 2}; }
  [[nodiscard]] leaf_range right() const { return {first + (last - first) / 2, last}; }
};

struct latency_options {
  std::string job = "empty";  // empty, 20us, 200us
  unsigned workers = 1;
  unsigned rest_ms = 0;  // between two calls; 0: none
  unsigned calls = 0;    // 0: as many as make a run of about a second
};

// The measurements of a program.
struct latency_record {
  std::string impl;
  std::string peer;
  std::vector<double> nanoseconds;  // one for each call
  bool ok;
};

// Reads the command line, sizes the job on this machine, has `measure` call it, and prints one line of JSON. Returns the
// exit status, as for the kernels.
int start_latency(int argc, char** argv, const std::function<latency_record(const latency_options&, const job&)>& measure);

// `call(runtime, job, leaf_range)` gives the job to the runtime and returns the sum over its leaves.
template <class Runtime, class Call>
int run_latency(int argc, char** argv, const std::string& impl, Call call) {
  return start_latency(argc, argv, [&](const latency_options& opts, const job& work) {
    const leaf_range all{0, work.leaves};
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < work.leaves; ++i) expected += work.leaf(i);

    Runtime runtime{opts.workers};
    latency_record result{.impl = impl, .peer = Runtime::version(), .nanoseconds = {}, .ok = true};
    const auto timed = [&] {
      make_opaque(work);
      const auto begin = std::chrono::steady_clock::now();
      std::uint64_t sum = call(runtime, work, all);
      make_opaque(sum);
      const auto end = std::chrono::steady_clock::now();
      result.ok = result.ok && sum == expected;
      return end - begin;
    };

    // Long enough for the system to move the new threads to processors of their own.
    const auto warm = std::chrono::steady_clock::now() + std::chrono::milliseconds{100};
    while (std::chrono::steady_clock::now() < warm) timed();

    for (unsigned i = 0; i < opts.calls; ++i) {
      if (opts.rest_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds{opts.rest_ms});
      result.nanoseconds.push_back(std::chrono::duration<double, std::nano>(timed()).count());
    }
    return result;
  });
}

}  // namespace bench
