#include "../../runtimes/nopal.hpp"
#include "migration.hpp"

namespace {

void migration(bench::migration_problem& problem) {
  for (std::size_t first = 0; first < problem.fibers(); first += problem.wave) {
    const unsigned home = nopal::this_worker::index();
    problem.begin_wave(first);
    nopal::counter left;
    for (std::size_t i = 0; i < problem.wave; ++i)
      nopal::spawn(left, [&problem, home, i = first + i] { problem.work(i, nopal::this_worker::index() != home); });
    nopal::wait_for(left);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::migration_problem, bench::nopal_runtime>(
      argc, argv, "fiber", [](auto& on, auto& problem) { on.pool.run([&] { migration(problem); }); });
}
