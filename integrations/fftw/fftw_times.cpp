// How long transforms take: FFTW's own threads beside nopal; one, four at once, and a loop of many.

#include "nopal_fftw.hpp"

#include <nopal/nopal.hpp>

#include "../times.hpp"
#include "work.hpp"

int main(int argc, char** argv) {
  unsigned const workers = test::workers_of(argc, argv);
  fftw_init_threads();
  nopal::pool pool{{.workers = workers}};
  nopal::fftw_loops loops{pool};
  auto const use_nopal = [&](bool yes) { fftw_threads_set_callback(yes ? &nopal::fftw_loops::run : nullptr, yes ? &loops : nullptr); };
  test::print_head(workers, "FFTW's");

  auto const transform = [](test::plan const& plan, std::vector<test::number>& x) {
    fftw_execute_dft(plan.get(), test::raw(x), test::raw(x));
  };
  for (int const n : {64, 256, 1024}) {
    auto const serial = test::make_plan(n, 1), parts = test::make_plan(n, static_cast<int>(workers));
    int const repeats = 1024 * 1024 / n / n;
    // One after the other, each in parallel inside.
    std::vector<std::vector<test::number>> all(static_cast<std::size_t>(std::max(repeats, 4)), test::square(n));
    auto const each = [&](test::plan const& plan) {
      return test::median_ms([&] {
        for (int k = 0; k < repeats; ++k) transform(plan, all[static_cast<std::size_t>(k)]);
      });
    };
    char what[80];
    std::snprintf(what, sizeof what, "%d of %d x %d, one after the other", repeats, n, n);
    double const alone = each(serial);
    use_nopal(false);
    double const own = each(parts);
    use_nopal(true);
    test::print(what, alone, own, each(parts));

    // A loop on nopal whose bodies transform: serially, with FFTW's threads, and with nopal inside.
    int const many = std::max(repeats, 4);
    auto const nested = [&](test::plan const& plan) {
      return test::median_ms([&] {
        pool.run([&] { nopal::parallel_for(0, many, [&](int k) { transform(plan, all[static_cast<std::size_t>(k)]); }, nopal::grain{1}); });
      });
    };
    std::snprintf(what, sizeof what, "%d of them in a nopal loop", many);
    double const serial_inside = nested(serial);
    use_nopal(false);
    double const own_inside = nested(parts);
    use_nopal(true);
    test::print(what, serial_inside, own_inside, nested(parts));
  }
  return 0;
}
