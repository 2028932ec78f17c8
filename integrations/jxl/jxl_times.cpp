// How long a photograph takes: libjxl's own threads beside nopal; one image, and several at once.
//
//     jxl_times [PHOTOGRAPH.ppm [WORKERS]]

#include "nopal_jxl.hpp"

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <jxl/thread_parallel_runner.h>
#include <jxl/thread_parallel_runner_cxx.h>
#include <nopal/nopal.hpp>

#include "../median.hpp"
#include "image.hpp"

int main(int argc, char** argv) {
  test::image const photograph = test::read(argc > 1 ? argv[1] : NOPAL_PHOTOGRAPH);
  unsigned const workers = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : std::thread::hardware_concurrency();
  test::image const part = photograph.part(0, 0, photograph.width / 2, photograph.height / 2);
  test::bytes const encoded = test::encode(photograph, {});
  constexpr int images = 4;

  nopal::pool pool{{.workers = workers}};
  nopal::jxl_runner runner{pool};
  test::runner const nopals{nopal::jxl_runner::run, &runner};
  auto const own = JxlThreadParallelRunnerMake(nullptr, workers);
  test::runner const threads{JxlThreadParallelRunner, own.get()};

  std::printf("%u x %u, %u workers; ms, medians of 9\n", photograph.width, photograph.height, workers);
  std::printf("%-40s %10s %10s %10s\n", "", "serial", "libjxl's", "nopal");
  auto const row = [](char const* what, double serial, double its, double ours) {
    std::printf("%-40s %10.1f %10.1f %10.1f\n", what, serial, its, ours);
  };
  auto const encodes = [&](test::image const& i, test::runner r) { return test::median_ms([&] { test::encode(i, r); }); };
  row("encode", encodes(photograph, {}), encodes(photograph, threads), encodes(photograph, nopals));
  auto const decodes = [&](test::runner r) { return test::median_ms([&] { test::decode(encoded, r); }); };
  row("decode", decodes({}), decodes(threads), decodes(nopals));
  // libjxl's pool serves one image at a time: so each thread has its own.
  row("encode four quarters at once", test::median_ms([&] {
        for (int k = 0; k < images; ++k) test::encode(part, {});
      }),
      test::median_ms([&] {
        std::vector<std::thread> all;
        for (int k = 0; k < images; ++k) {
          all.emplace_back([&] {
            auto const mine = JxlThreadParallelRunnerMake(nullptr, workers);
            test::encode(part, {JxlThreadParallelRunner, mine.get()});
          });
        }
        for (auto& t : all) t.join();
      }),
      test::median_ms(
          [&] { pool.run([&] { nopal::parallel_for(0, images, [&](int) { test::encode(part, nopals); }, nopal::grain{1}); }); }));
  return 0;
}
