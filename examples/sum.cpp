// Adds up a million doubles. A sum of doubles depends on the order; nopal's order is fixed by their number, so that the last bit is the
// same on one worker and on four, and on every run.
// Work Θ(n), span O(√n).

#include <nopal/algorithm/reduce.hpp>
#include <nopal/pool.hpp>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

double sum_on(unsigned workers, std::vector<double> const& numbers) {
  nopal::pool pool{{.workers = workers}};
  return pool.run([&] { return nopal::reduce(numbers); });
}

int main() {
  std::vector<double> numbers(1'000'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1.0 / static_cast<double>((i + 1) * (i + 1));

  double const sum = nopal::reduce(numbers);  // on the default pool
  double const serial = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  std::printf("1 + 1/4 + 1/9 + … = %.17g (one after the other: %.17g)\n", sum, serial);

  if (std::abs(sum - serial) > 1e-12) return 1;
  return sum == sum_on(1, numbers) && sum == sum_on(4, numbers) ? 0 : 1;
}
