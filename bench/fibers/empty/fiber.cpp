#include "../../runtimes/nopal.hpp"
#include "../crowd.hpp"

namespace {

using problem_type = bench::crowd<bench::crowd_kind::empty>;

void run(problem_type& problem) {
  problem.each_batch([&](std::size_t count) {
    nopal::counter left;
    for (std::size_t i = 0; i < count; ++i) nopal::spawn(left, [&problem] { ++problem.ran; });
    nopal::wait_for(left);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<problem_type, bench::nopal_runtime>(argc, argv, "fiber",
                                                        [](auto& on, auto& problem) { on.pool.run([&] { run(problem); }); });
}
