// How long buffers take: C-Blosc2's own threads beside nopal; one after the other, and in a loop on nopal.

#include "nopal_blosc2.hpp"

#include <nopal/nopal.hpp>

#include "../times.hpp"
#include "work.hpp"

int main(int argc, char** argv) {
  unsigned const workers = test::workers_of(argc, argv);
  int const threads = static_cast<int>(workers);
  blosc2_init();
  nopal::pool pool{{.workers = workers}};
  nopal::blosc2_jobs jobs{pool};
  test::print_head(workers, "C-Blosc2's");
  for (std::size_t const n : {std::size_t{50'000}, std::size_t{1'000'000}}) {
    int const many = static_cast<int>(4'000'000 / n);
    auto const all = test::numbers(n);
    auto const both_ways = [&](int inside) { test::decompressed(test::compressed(all, inside), n, inside); };
    auto const one_by_one = [&](int inside) {
      return test::median_ms([&] {
        for (int k = 0; k < many; ++k) both_ways(inside);
      });
    };
    auto const nested = [&](int inside) {
      return test::median_ms([&] { pool.run([&] { nopal::parallel_for(0, many, [&](int) { both_ways(inside); }, nopal::grain{1}); }); });
    };
    blosc2_set_threads_callback(nullptr, nullptr);
    double const serial = one_by_one(1), serial_nested = nested(1), own = one_by_one(threads), own_nested = nested(threads);
    blosc2_set_threads_callback(nopal::blosc2_jobs::run, &jobs);
    char what[80];
    std::snprintf(what, sizeof what, "%d of %zu numbers, one after the other", many, n);
    test::print(what, serial, own, one_by_one(threads));
    test::print("the same in a nopal loop", serial_nested, own_nested, nested(threads));
  }
  return 0;
}
