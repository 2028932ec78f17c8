#pragma once

// switch: two contexts switch to each other. Each counts its turns.

#include <array>
#include <cstddef>
#include <string>

#include "../../harness.hpp"

namespace bench {

// `Slower` times as few switches if one takes that much longer.
template <std::size_t Slower = 1>
struct switches {
  static constexpr const char* name = "fibers_switch";

  explicit switches(const options& opts)
      : turns{pick(opts, {.smoke = 20'000, .standard = 10'000'000, .paper = 10'000'000}) / (2 * Slower)} {}

  void reset() { done = {}; }
  // The work of each of the two between two switches.
  void turn(std::size_t side) {
    ++done[side];
    make_opaque(done);
  }
  [[nodiscard]] std::size_t fibers() const { return 2 * turns; }
  [[nodiscard]] std::string size() const { return std::to_string(2 * turns); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(done[0]) + " and " + std::to_string(done[1]) + " turns"; }
  [[nodiscard]] bool correct() const { return done[0] == turns && done[1] == turns; }

  std::size_t turns;  // of each side
  std::array<std::size_t, 2> done{};
};

}  // namespace bench
