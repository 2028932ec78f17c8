// How long a pipeline takes: Halide's own threads beside nopal; one picture after the other, and a loop over many.

#include "nopal_halide.hpp"

#include <cstdio>
#include <vector>

#include <nopal/nopal.hpp>

#include "../times.hpp"
#include "work.hpp"

namespace {

int serially(void* context, halide_task_t task, int first, int count, std::uint8_t* closure) {
  for (int i = first; i < first + count; ++i) {
    if (int const status = task(context, i, closure); status != 0) return status;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  unsigned const workers = test::workers_of(argc, argv);
  nopal::pool pool{{.workers = workers}};
  halide_set_num_threads(static_cast<int>(workers));
  test::print_head(workers, "Halide's");
  halide_do_par_for_t const how[] = {serially, halide_default_do_par_for, nopal::halide_par_for};
  for (int const side : {64, 256, 1024}) {
    int const many = 2 * 1024 * 1024 / side / side;
    std::vector<test::picture> in, out;
    for (int k = 0; k < many; ++k) {
      in.push_back(test::noise(side, side));
      out.emplace_back(side, side);
    }
    auto const one = [&](int k) { blur(in[static_cast<std::size_t>(k)].raw_buffer(), out[static_cast<std::size_t>(k)].raw_buffer()); };
    double times[3], nested[3];
    for (int h = 0; h < 3; ++h) {
      halide_set_custom_do_par_for(how[h]);
      times[h] = test::median_ms([&] {
        pool.run([&] {
          for (int k = 0; k < many; ++k) one(k);
        });
      });
      nested[h] = test::median_ms([&] { pool.run([&] { nopal::parallel_for(0, many, one, nopal::grain{1}); }); });
    }
    char what[80];
    std::snprintf(what, sizeof what, "%d of %d x %d, one after the other", many, side, side);
    test::print(what, times[0], times[1], times[2]);
    std::snprintf(what, sizeof what, "the same in a nopal loop");
    test::print(what, nested[0], nested[1], nested[2]);
  }
  return 0;
}
