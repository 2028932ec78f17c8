// Prefix sums give the places of things of different sizes: here lines that are copied one after the other into one text, all at once, each
// by any worker.
// Work Θ(n + length of the text), span O(n / 1024 + longest line).

#include <nopal/algorithm.hpp>

#include <cstdio>
#include <string>
#include <vector>

int main() {
  std::vector<std::string> lines(100'000);
  nopal::parallel_for(0, lines.size(), [&](std::size_t i) { lines[i] = "line " + std::to_string(i * i) + '\n'; });

  std::vector<std::size_t> places(lines.size() + 1);  // where each line begins, and the end of the last
  nopal::transform(lines, places.begin() + 1, &std::string::size);
  nopal::inclusive_scan(places, places.begin());

  std::string text(places.back(), ' ');
  nopal::parallel_for(0, lines.size(), [&](std::size_t i) { lines[i].copy(&text[places[i]], lines[i].size()); });

  std::string serial;
  for (auto const& line : lines) serial += line;
  std::printf("%zu lines, %zu characters\n", lines.size(), text.size());
  return text == serial ? 0 : 1;
}
