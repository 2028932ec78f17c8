// A program of another build system: the sum of an array, in parallel.
// Work Θ(n), span O(√n).

#include <nopal/algorithm/reduce.hpp>

#include <cstdio>
#include <vector>

int main() {
  long const sum = nopal::reduce(std::vector<long>(1'000'000, 3));
  std::printf("a million threes: %ld\n", sum);
  return sum == 3'000'000 ? 0 : 1;
}
