#pragma once

// balanced and imbalanced: 1024 fibers that only compute, all spawned on one worker. Balanced ones take 100 000 iterations each; of the
// others a tenth, spread among them, takes ten times that and the rest a tenth of it. Each adds the cycles that it took to those of its
// worker.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../harness.hpp"
#include "cycles.hpp"
#include "spin.hpp"

namespace bench {

struct loops_problem {
  static constexpr const char* name = "fibers_loops";
  static constexpr std::size_t count = 1024;

  explicit loops_problem(const options& opts)
      : usual{pick(opts, {.smoke = 1000, .standard = 100'000, .paper = 100'000})},
        imbalanced{opts.imbalanced},
        results(count),
        busy(opts.workers) {}

  [[nodiscard]] std::size_t iterations(std::size_t i) const {
    if (!imbalanced) return usual;
    const bool heavy = i * 617 % count < count / 10;  // 617 is odd: every remainder occurs once
    return heavy ? usual * 10 : usual / 10;
  }
  void work(std::size_t i) { results[i] = spin(i, iterations(i)); }

  // The same, by the worker of this number.
  void work(std::size_t i, std::size_t worker) {
    const std::uint64_t begin = cycles();
    work(i);
    busy[worker].cycles += cycles() - begin;
  }
  [[nodiscard]] std::vector<figure> figures() const {
    std::vector<figure> all;
    for (std::size_t i = 0; i < busy.size(); ++i) all.push_back({"busy_cycles_" + std::to_string(i), static_cast<double>(busy[i].cycles)});
    return all;
  }

  void reset() {
    results.assign(count, 0);
    for (auto& one : busy) one.cycles = 0;
  }
  [[nodiscard]] std::size_t fibers() const { return count; }
  [[nodiscard]] std::string size() const { return std::to_string(usual); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(results.back()); }
  [[nodiscard]] bool correct() const {
    for (std::size_t i = 0; i < count; ++i)
      if (results[i] != spun(i, iterations(i))) return false;
    return true;
  }

  std::size_t usual;
  bool imbalanced;
  std::vector<std::uint64_t> results;

 private:
  struct alignas(64) by_worker {
    std::uint64_t cycles = 0;
  };
  std::vector<by_worker> busy;
};

}  // namespace bench
