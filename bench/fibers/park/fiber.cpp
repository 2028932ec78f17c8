#include "../../runtimes/nopal.hpp"
#include "../crowd.hpp"

namespace {

using problem_type = bench::crowd<bench::crowd_kind::park>;

void run(problem_type& problem) {
  problem.each_batch([&](std::size_t count) {
    nopal::counter to_come{static_cast<std::int64_t>(count)};
    nopal::counter gate{1};
    nopal::counter left;
    for (std::size_t i = 0; i < count; ++i)
      nopal::spawn(left, [&] {
        to_come.done();
        nopal::wait_for(gate);
        ++problem.ran;
      });
    nopal::wait_for(to_come);
    gate.done();
    nopal::wait_for(left);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<problem_type, bench::nopal_runtime>(argc, argv, "fiber",
                                                        [](auto& on, auto& problem) { on.pool.run([&] { run(problem); }); });
}
