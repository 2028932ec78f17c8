// A futex system call or two for each switch.

#include <semaphore.h>

#include <array>

#include "../../runtimes/threads.hpp"
#include "switch.hpp"

namespace {

using problem_type = bench::switches<500>;

void run(const bench::threads_runtime& on, problem_type& problem) {
  std::array<sem_t, 2> may_go;
  sem_init(&may_go[0], 0, 1);
  sem_init(&may_go[1], 0, 0);
  on.each(2, [&](std::size_t side) {
    for (std::size_t i = 0; i < problem.turns; ++i) {
      while (sem_wait(&may_go[side]) != 0) {  // a signal came in between
      }
      problem.turn(side);
      sem_post(&may_go[1 - side]);
    }
  });
  for (sem_t& one : may_go) sem_destroy(&one);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<problem_type, bench::threads_runtime>(argc, argv, "semaphore", [](auto& on, auto& problem) { run(on, problem); });
}
