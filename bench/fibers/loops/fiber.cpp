#include "../../runtimes/nopal.hpp"
#include "loops.hpp"

namespace {

void loops(bench::loops_problem& problem) {
  nopal::counter left;
  for (std::size_t i = 0; i < problem.count; ++i) nopal::spawn(left, [&problem, i] { problem.work(i, nopal::this_worker::index()); });
  nopal::wait_for(left);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::loops_problem, bench::nopal_runtime>(argc, argv, "fiber",
                                                                [](auto& on, auto& problem) { on.pool.run([&] { loops(problem); }); });
}
