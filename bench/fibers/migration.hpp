#pragma once

// migration: the cost of running a fiber elsewhere than where it was spawned. Waves of fibers that only compute, and waves of fibers that
// also read what their spawner has just written for them; each measures itself.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "../harness.hpp"
#include "cycles.hpp"
#include "spin.hpp"

namespace bench {

struct migration_problem {
  static constexpr const char* name = "fibers_migration";
  static constexpr std::size_t wave = 32;
  static constexpr std::size_t words = 4096;  // 16 KiB for each fiber of a wave

  enum kind { computing, reading };

  explicit migration_problem(const options& opts)
      : iterations{pick(opts, {.smoke = 1000, .standard = 100'000, .paper = 100'000})}, waves{opts.size == "smoke" ? 2u : 32u} {}

  void reset() {
    for (auto& one : samples_) one.assign(waves * wave, {});
  }

  // The fibers [0, fibers()) run in waves: before each, its spawner writes what they read.
  void begin_wave(std::size_t first) {
    for (std::size_t i = 0; i < wave; ++i) std::iota(data_[i].begin(), data_[i].end(), static_cast<std::uint32_t>(first + i));
  }

  // The fiber's work, `stolen` or not.
  void work(std::size_t i, bool stolen) {
    const kind what = i / wave % 2 == 0 ? computing : reading;
    const std::uint64_t begin = cycles();
    bool ok;
    if (what == computing) {
      ok = spin(i, iterations) == spun(i, iterations);
    } else {
      const auto& mine = data_[i % wave];
      const std::uint64_t sum = std::accumulate(mine.begin(), mine.end(), std::uint64_t{0});
      ok = sum == words * i + words * (words - 1) / 2;
    }
    const std::uint64_t end = cycles();
    samples_[what][i / (2 * wave) * wave + i % wave] = {.cycles = end - begin, .stolen = stolen, .ok = ok};
  }

  [[nodiscard]] std::size_t fibers() const { return 2 * waves * wave; }
  [[nodiscard]] std::string size() const { return std::to_string(iterations); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(fibers()) + " fibers"; }
  [[nodiscard]] bool correct() const {
    for (const auto& of_kind : samples_)
      for (const sample& one : of_kind)
        if (!one.ok) return false;
    return true;
  }

  // Medians, since the longest interruption would decide the average.
  [[nodiscard]] std::vector<figure> figures() const {
    std::vector<figure> all;
    for (const kind what : {computing, reading}) {
      for (const bool stolen : {false, true}) {
        std::vector<double> cycles;
        for (const sample& one : samples_[what])
          if (one.stolen == stolen) cycles.push_back(static_cast<double>(one.cycles));
        if (cycles.empty()) continue;
        const std::string which = std::string{what == computing ? "computing" : "reading"} + (stolen ? "_stolen" : "_local");
        const auto middle = cycles.begin() + static_cast<std::ptrdiff_t>(cycles.size() / 2);
        std::ranges::nth_element(cycles, middle);
        all.push_back({which + "_cycles", *middle});
        all.push_back({which + "_fibers", static_cast<double>(cycles.size())});
      }
    }
    return all;
  }

  std::size_t iterations;
  std::size_t waves;  // of each kind

 private:
  struct sample {
    std::uint64_t cycles = 0;
    bool stolen = false;
    bool ok = false;
  };

  std::array<std::vector<sample>, 2> samples_;
  std::array<std::array<std::uint32_t, words>, wave> data_;
};

}  // namespace bench
