#include "../../runtimes/nopal.hpp"
#include "switch.hpp"

namespace {

void yield_in_turn(bench::switches<>& problem) {
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
  return bench::run<bench::switches<>, bench::nopal_runtime>(
      argc, argv, "fiber", [](auto& on, auto& problem) { on.pool.run([&] { yield_in_turn(problem); }); });
}
