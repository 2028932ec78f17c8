// Counts how often each word occurs in a text. The text is split into blocks wherever a thief asks; a word belongs to the block that it
// begins in. Each worker has a table of its own, and the tables are added up at the end.
// For n characters and d different words: work O(n + workers · d), span O(longest word + log n + workers · d).

#include <nopal/algorithm/combinable.hpp>
#include <nopal/algorithm/parallel_for.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

using counts = std::unordered_map<std::string_view, long>;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Counts the words that begin in [first, last).
void count(std::string_view text, std::size_t first, std::size_t last, counts& into) {
  while (first > 0 && first < last && is_letter(text[first - 1]) && is_letter(text[first])) ++first;
  while (first < last) {
    if (!is_letter(text[first])) {
      ++first;
      continue;
    }
    std::size_t end = first;
    while (end < text.size() && is_letter(text[end])) ++end;
    ++into[text.substr(first, end - first)];
    first = end;
  }
}

int main() {
  constexpr std::string_view said[] = {"fork", "join", "steal", "wait", "wake", "a", "the", "of", "strand", "scheduler"};
  std::string text;
  std::minstd_rand draw{9};
  while (text.size() < 2'000'000) {
    text += said[draw() % std::size(said) * (draw() % 2)];  // the first as often as all others
    text += draw() % 12 == 0 ? ". " : " ";
  }

  nopal::combinable<counts> tables;
  nopal::parallel_for_blocks(std::size_t{0}, text.size(),
                             [&](std::size_t first, std::size_t last) { count(text, first, last, tables.local()); });
  counts const all = tables.combine([](counts sum, counts const& other) {
    for (auto const& [word, times] : other) sum[word] += times;
    return sum;
  });

  counts serial;
  count(text, 0, text.size(), serial);
  for (auto const& [word, times] : std::map<std::string_view, long>{all.begin(), all.end()}) {
    std::printf("%8ld %.*s\n", times, static_cast<int>(word.size()), word.data());
  }
  return all == serial && all.size() == std::size(said) ? 0 : 1;
}
