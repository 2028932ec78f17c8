// oneTBB's simple_partitioner, with blocks of a grain as its manual advises for it: without one each iteration is a task of its own.

#include "tbb.hpp"

#include <oneapi/tbb/blocked_range.h>

namespace {

struct simple : bench::tbb_loops<oneapi::tbb::simple_partitioner> {
  static constexpr const char* name = "tbb_simple";
  using tbb_loops::tbb_loops;
  template <class Body>
  void loop(std::size_t n, Body const& body) {
    const std::size_t grain = std::max<std::size_t>(1, n / 256);
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<std::size_t>{0, n, grain},
        [&](auto const& part) {
          for (std::size_t i = part.begin(); i != part.end(); ++i) body(i);
        },
        oneapi::tbb::simple_partitioner{});
  }
};

}  // namespace

int main(int argc, char** argv) { return bench::run_loops<simple>(argc, argv); }
