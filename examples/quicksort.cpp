// Quicksort in ordinary functions: both halves at once, with std::partition from the standard library in between.
// Work O(n log n), span O(n) on average, since the partition is serial.

#include <nopal/native.hpp>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

using iterator = std::vector<int>::iterator;

void quicksort(iterator first, iterator last) {
  if (last - first < 1000) return std::sort(first, last);
  int const pivot = std::max(std::min(*first, last[-1]), std::min(std::max(*first, last[-1]), first[(last - first) / 2]));
  iterator const left = std::partition(first, last, [=](int x) { return x < pivot; });
  iterator const right = std::partition(left, last, [=](int x) { return x == pivot; });
  nopal::parallel_invoke([=] { quicksort(first, left); }, [=] { quicksort(right, last); });
}

int main() {
  std::vector<int> v(1'000'000);
  std::mt19937 draw{42};
  for (int& x : v) x = static_cast<int>(draw() % 1'000'000);

  quicksort(v.begin(), v.end());  // on the default pool, since this thread works for none

  bool const sorted = std::is_sorted(v.begin(), v.end());
  std::printf("%zu numbers: %s\n", v.size(), sorted ? "sorted" : "NOT sorted");
  return sorted ? 0 : 1;
}
