// oneTBB's parallel_for with its auto_partitioner. NOPAL_BENCH_SIMPLE: with its simple_partitioner, and blocks of a grain as its manual
// advises for it: without one each iteration is a task of its own. The arena has as many threads as workers, the calling one among them.

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/version.h>

#include "loops.hpp"

namespace {

struct tbb_loops {
  static constexpr const char* name = NOPAL_BENCH_IMPL;
  explicit tbb_loops(unsigned workers) : parallelism{oneapi::tbb::global_control::max_allowed_parallelism, workers} {}
  static std::string version() { return std::string{"oneTBB "} + TBB_runtime_version(); }
  template <class Body>
  void loop(std::size_t n, Body const& body) {
#if defined(NOPAL_BENCH_SIMPLE)
    const std::size_t grain = std::max<std::size_t>(1, n / 256);
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<std::size_t>{0, n, grain},
        [&](auto const& part) {
          for (std::size_t i = part.begin(); i != part.end(); ++i) body(i);
        },
        oneapi::tbb::simple_partitioner{});
#else
    oneapi::tbb::parallel_for(std::size_t{0}, n, body, oneapi::tbb::auto_partitioner{});
#endif
  }
  oneapi::tbb::global_control parallelism;
};

}  // namespace

int main(int argc, char** argv) { return bench::run_loops<tbb_loops>(argc, argv); }
