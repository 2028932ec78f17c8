// How long a photograph takes: libjxl's own threads beside nopal; one image, and several at once.

#include "nopal_jxl.hpp"

#include <jxl/thread_parallel_runner.h>
#include <jxl/thread_parallel_runner_cxx.h>
#include <nopal/nopal.hpp>

#include "../times.hpp"
#include "codec.hpp"

int main(int argc, char** argv) {
  unsigned const workers = test::workers_of(argc, argv);
  test::image const photograph = test::read_photograph(), part = photograph.part(0, 0, photograph.width / 2, photograph.height / 2);
  test::bytes const encoded = test::encode(photograph, {});
  nopal::pool pool{{.workers = workers}};
  nopal::jxl_runner runner{pool};
  test::runner const nopals{nopal::jxl_runner::run, &runner};
  auto const own = JxlThreadParallelRunnerMake(nullptr, workers);
  test::runner const threads{JxlThreadParallelRunner, own.get()};

  test::print_head(workers, "libjxl's");
  auto const encodes = [&](test::runner r) { return test::median_ms([&] { test::encode(photograph, r); }); };
  test::print("encode", encodes({}), encodes(threads), encodes(nopals));
  auto const decodes = [&](test::runner r) { return test::median_ms([&] { test::decode(encoded, r); }); };
  test::print("decode", decodes({}), decodes(threads), decodes(nopals));
  // libjxl's pool serves one image at a time: so each thread has its own.
  auto const by_its_own = [&](int) {
    auto const mine = JxlThreadParallelRunnerMake(nullptr, workers);
    test::encode(part, {JxlThreadParallelRunner, mine.get()});
  };
  test::print("encode four quarters at once", test::median_ms_of_four([&](int) { test::encode(part, {}); }),
              test::median_ms_of_four_threads(by_its_own), test::median_ms_of_four_on(pool, [&](int) { test::encode(part, nopals); }));
  return 0;
}
