// OpenMP's loops. NOPAL_BENCH_SCHEDULE: static, dynamic or guided. A loop in a loop is serial, as by default.

#include "../runtimes/openmp.hpp"
#include "loops.hpp"

#define NOPAL_BENCH_TEXT(x) #x
#define NOPAL_BENCH_PRAGMA(how) _Pragma(NOPAL_BENCH_TEXT(omp parallel for num_threads(workers) schedule(how)))

namespace {

struct openmp : bench::openmp_runtime {
  static constexpr const char* name = NOPAL_BENCH_IMPL;
  using openmp_runtime::openmp_runtime;
  template <class Body>
  void loop(std::size_t n, Body const& body) {
    NOPAL_BENCH_PRAGMA(NOPAL_BENCH_SCHEDULE)
    for (std::size_t i = 0; i < n; ++i) body(i);
  }
};

}  // namespace

int main(int argc, char** argv) { return bench::run_loops<openmp>(argc, argv); }
