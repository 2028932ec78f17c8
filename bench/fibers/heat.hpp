#pragma once

// heat on 512 × 512 points, 400 steps, 64 strips of which the middle third costs four times as much: it makes its step four
// times over. A fiber for each strip of each step.

#include <cstddef>
#include <string>

#include "../kernels/heat.hpp"

namespace bench {

struct heat_of_strips : heat_problem {
  static constexpr const char* name = "fibers_heat";
  static constexpr std::size_t strips = 64;
  static constexpr std::size_t points = 512;

  // The size is the number of steps.
  explicit heat_of_strips(const options& opts) : heat_problem{square(opts)} {
    steps = pick(opts, {.smoke = 10, .standard = 400, .paper = 400});
  }

  void step_of(std::size_t i) {
    const std::size_t rows = last_row() - first_row();
    const bool costly = i >= strips / 3 && i < strips - strips / 3;
    for (int times = costly ? 4 : 1; times > 0; --times) {
      step(first_row() + rows * i / strips, first_row() + rows * (i + 1) / strips);
      make_opaque(*this);
    }
  }

  [[nodiscard]] std::size_t fibers() const { return steps * strips; }
  [[nodiscard]] std::string size() const { return std::to_string(steps); }

 private:
  static options square(options opts) {
    opts.size = std::to_string(opts.size == "smoke" ? points / 4 : points);
    return opts;
  }
};

}  // namespace bench
