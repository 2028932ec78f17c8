// A pipeline: blocks of a text are read in order, their runs of equal letters are counted by all workers, and the results are written in
// order, with a run that goes on in the next block as one. At most 32 blocks are in memory.
// Work O(n) for a text of n letters; span O(n) through the stages in order, which do little.

#include <nopal/pipeline.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using runs = std::vector<std::pair<char, long>>;

// The letters of block k: runs of lengths that cross the blocks' limits.
std::string letters(long k, long size) {
  std::string block;
  for (long i = k * size; i < (k + 1) * size; ++i) block += static_cast<char>('a' + (i / 7 + i / 1000) % 3);
  return block;
}

void add(runs& all, char letter, long length) {
  if (!all.empty() && all.back().first == letter) {
    all.back().second += length;
  } else {
    all.emplace_back(letter, length);
  }
}

runs count(std::string const& block) {
  runs found;
  for (char const c : block) add(found, c, 1);
  return found;
}

int main() {
  constexpr long blocks = 500;
  constexpr long size = 4096;

  runs written;
  nopal::pipeline(
      nopal::tokens{32},
      [k = 0L]() mutable -> std::optional<std::string> {
        if (k == blocks) return std::nullopt;
        return letters(k++, size);
      },
      nopal::stage::parallel{count},  //
      nopal::stage::serial_in_order{[&](runs const& block) {
        for (auto const& [letter, length] : block) add(written, letter, length);
      }});

  runs serial;
  for (long k = 0; k < blocks; ++k) {
    for (char const c : letters(k, size)) add(serial, c, 1);
  }
  std::printf("%zu runs in %ld letters\n", written.size(), blocks * size);
  return written == serial ? 0 : 1;
}
