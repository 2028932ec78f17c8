#include "migration.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_SERIAL)
unsigned here() { return 0; }
#else
unsigned here() { return nopal::this_worker::index(); }
#endif

void migration(bench::migration_problem& problem) {
  for (std::size_t first = 0; first < problem.fibers(); first += problem.wave) {
    const unsigned home = here();
    problem.begin_wave(first);
    bench::group left;
    for (std::size_t i = 0; i < problem.wave; ++i) left.fork([&problem, home, i = first + i] { problem.work(i, here() != home); });
    left.join();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::migration_problem>(argc, argv, [](auto& on, auto& problem) { on.run([&] { migration(problem); }); });
}
