// Counts how often each word length occurs in a text, in two ways: by nopal::histogram, which makes a table for each part of the text, and
// by hand with a nopal::combinable, a table for each worker, which is useful if one element counts in several places.
// Work Θ(n + bins), span O(n / 64 + bins + log n) by nopal::histogram, O(log n + workers · bins) by hand.

#include <nopal/algorithm.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

constexpr std::size_t longest = 15;
using tally = std::array<std::size_t, longest + 1>;

int main() {
  std::vector<std::string> words(200'000);
  std::minstd_rand draw{7};
  for (auto& word : words) word.assign(1 + (draw() % longest + draw() % longest) / 2, 'a');

  auto const counts = nopal::histogram(words, longest + 1, &std::string::size);

  nopal::combinable<tally> tables;
  nopal::for_each(words, [&](std::string const& word) { ++tables.local()[word.size()]; });
  tally const by_hand = tables.combine([](tally sum, tally const& other) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
    return sum;
  });

  tally serial{};
  for (auto const& word : words) ++serial[word.size()];
  for (std::size_t length = 1; length <= longest; ++length) {
    std::printf("%2zu letters: %6zu %s\n", length, counts[length], std::string(counts[length] / 500, '#').c_str());
  }
  return std::ranges::equal(counts, serial) && by_hand == serial ? 0 : 1;
}
