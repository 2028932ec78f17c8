// How long ParlayLib's algorithms take: nopal_parlay_times on nopal, nopal_parlay_own_times on ParlayLib's own scheduler, from one source. Both
// take the number of workers as their argument.

#ifndef NOPAL_PARLAY_OWN
#include "nopal_parlay.hpp"
#endif

#include <parlay/primitives.h>
#include <parlay/sequence.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "../times.hpp"

int main(int argc, char** argv) {
  unsigned const workers = test::workers_of(argc, argv);
  char text[16];
  std::snprintf(text, sizeof text, "%u", workers);
#ifdef NOPAL_PARLAY_OWN
  char const* const scheduler = "ParlayLib's";
  setenv("PARLAY_NUM_THREADS", text, 1);
#else
  char const* const scheduler = "nopal";
  setenv("NOPAL_WORKERS", text, 1);
#endif
  std::printf("%zu workers; ms, medians of 9\n%-40s %12s\n", parlay::num_workers(), "", scheduler);
  auto const row = [](char const* what, auto const& f) { std::printf("%-40s %12.2f\n", what, test::median_ms(f)); };
  std::size_t constexpr n = 2'000'000;
  auto const numbers = parlay::tabulate(n, [](std::size_t i) { return parlay::hash64(i); });
  parlay::sequence<std::size_t> out(1000);
  volatile std::size_t sink = 0;
  row("sort 2 million", [&] { sink = parlay::sort(numbers)[n / 2]; });
  row("integer_sort 2 million", [&] { sink = parlay::integer_sort(numbers)[n / 2]; });
  row("reduce", [&] { sink = parlay::reduce(numbers); });
  row("scan", [&] { sink = parlay::scan(numbers).second; });
  row("filter", [&] { sink = parlay::filter(numbers, [](std::size_t x) { return x % 3 == 0; }).size(); });
  row("2000 loops of 1000", [&] {
    for (int k = 0; k < 2000; ++k) {
      parlay::parallel_for(0, 1000, [&](std::size_t i) { out[i] = numbers[i] + static_cast<std::size_t>(k); });
    }
  });
  row("1000 sorts of 1000 in a loop",
      [&] { parlay::parallel_for(0, 1000, [&](std::size_t k) { parlay::sort(numbers.cut(k * 1000, k * 1000 + 1000)); }, 1); });
  struct fork {
    static std::size_t fib(std::size_t k) {
      if (k < 2) return k;
      std::size_t a = 0, b = 0;
      parlay::par_do([&] { a = fib(k - 1); }, [&] { b = fib(k - 2); });
      return a + b;
    }
  };
  row("fib(27)", [&] { sink = fork::fib(27); });
  return 0;
}
