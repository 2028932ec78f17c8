#pragma once

// The measured algorithms: each by the standard library, serially, and by nopal, on the same elements.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace scale {

/// An input, one of many.
struct input {
  explicit input(std::size_t n, std::uint64_t which = 0);
  std::vector<int> v;     // in no order
  std::vector<int> a, b;  // its two halves, each sorted
};

/// The output, or what is rearranged.
struct output {
  std::vector<int> v;
  long number = 0;
  bool operator==(const output&) const = default;
};

/// One algorithm.
struct subject {
  using way = std::function<void(const input&, output&)>;

  /// An output's content before: the input, its sorted halves one after the other, room for as many elements as the input has, or for less.
  enum class begins { as_input, as_halves, as_room, as_little };

  /// As before the algorithm runs.
  [[nodiscard]] output before(const input& in) const;

  std::string name;
  begins from;
  double work;                           // of the parallel algorithm, over that of the serial one, where it must be more
  std::function<double(double n)> span;  // the longest path, in elements: derived in include/nopal/algorithm/internal/README.md
  way serial;
  way ours;
  /// After it has run, untimed: checks the output if several are right, and leaves what is the same in all.
  std::function<void(output&)> settle = [](output&) {};
};

/// All of them, with elements that cost what element::work does, or next to nothing.
[[nodiscard]] std::vector<subject> subjects(bool dear);

}  // namespace scale
