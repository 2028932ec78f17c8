#include "../../runtimes/nopal.hpp"
#include "switch.hpp"

namespace {

using problem_type = bench::switches<5>;

void yield_in_turn(problem_type& problem) {
  nopal::counter left;
  for (std::size_t side = 0; side < 2; ++side)
    nopal::spawn(left, [&problem, side] {
      for (std::size_t i = 0; i < problem.turns; ++i) {
        problem.turn(side);
        nopal::yield();
      }
    });
  nopal::wait_for(left);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<problem_type, bench::nopal_runtime>(argc, argv, "fiber",
                                                        [](auto& on, auto& problem) { on.pool.run([&] { yield_in_turn(problem); }); });
}
