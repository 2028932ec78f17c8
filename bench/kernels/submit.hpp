#pragma once

// submit: 64 threads outside the pool submit small jobs, and none waits for one of them. It measures what the threads and the workers
// share.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "../harness.hpp"

namespace bench {

struct submit_problem {
  static constexpr const char* name = "submit";
  static constexpr std::size_t submitters = 64;

  explicit submit_problem(const options& opts) : results(submitters * pick(opts, {.smoke = 100, .standard = 10'000, .paper = 100'000})) {}

  // What a job computes.
  static std::uint32_t value(std::uint32_t i) { return (i ^ i >> 16) * 0x45d9f3bu; }

  void reset() {
    results.assign(results.size(), 0);
    left = results.size();
  }
  [[nodiscard]] std::string size() const { return std::to_string(submitters) + " x " + std::to_string(results.size() / submitters); }

  [[nodiscard]] bool correct() const {
    for (std::uint32_t i = 0; i < results.size(); ++i)
      if (results[i] != value(i)) return false;
    return true;
  }
  [[nodiscard]] std::string answer_text() const {
    std::uint64_t sum = 0;
    for (std::uint32_t result : results) sum += result;
    return std::to_string(sum);
  }

  void run_job(std::uint32_t i) {
    results[i] = value(i);
    if (left.fetch_sub(1) == 1) left.notify_all();
  }

  // Each thread calls hand_in(job) for its share of the jobs. Returns when all have run.
  template <class HandIn>
  void submit(HandIn hand_in) {
    const std::size_t share = results.size() / submitters;
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < submitters; ++t) {
      threads.emplace_back([=, this] {
        for (std::size_t i = t * share; i < (t + 1) * share; ++i) hand_in([this, i] { run_job(static_cast<std::uint32_t>(i)); });
      });
    }
    for (std::size_t n = left; n != 0; n = left) left.wait(n);
  }

  std::vector<std::uint32_t> results;
  std::atomic<std::size_t> left{0};
};

}  // namespace bench
