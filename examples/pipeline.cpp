// A pipeline of fibers: producers draw numbers, workers count the divisors of each, one fiber adds up. Channels carry the numbers, and a
// stage that must wait parks its fiber, not its thread.
// Work O(n √m) for n numbers up to m; span O(n) through the one that adds.

#include <nopal/fiber.hpp>

#include <cstdio>

long divisors(long n) {
  long count = 0;
  for (long d = 1; d * d <= n; ++d) count += n % d != 0 ? 0 : d * d == n ? 1 : 2;
  return count;
}

int main() {
  constexpr long n = 20'000;
  nopal::channel<long> numbers{64}, counts{64};
  nopal::counter producers, workers, adder;

  for (long p = 0; p < 4; ++p) {
    nopal::spawn(producers, [&numbers, p] {
      for (long k = 1 + p; k <= n; k += 4) numbers.push(k);
    });
  }
  for (int w = 0; w < 8; ++w) {
    nopal::spawn(workers, [&] {
      while (auto const k = numbers.pop()) counts.push(divisors(*k));
    });
  }
  long sum = 0;
  nopal::spawn(adder, [&] {
    while (auto const c = counts.pop()) sum += *c;
  });

  nopal::wait_for(producers);  // this thread sleeps; in a fiber it would park
  numbers.close();
  nopal::wait_for(workers);
  counts.close();
  nopal::wait_for(adder);

  long right = 0;
  for (long d = 1; d <= n; ++d) right += n / d;
  std::printf("divisors of 1 to %ld: %ld\n", n, sum);
  return sum == right ? 0 : 1;
}
