#include <condition_variable>
#include <mutex>

#include "../../runtimes/threads.hpp"
#include "switch.hpp"

namespace {

using problem_type = bench::switches<500>;

void run(const bench::threads_runtime& on, problem_type& problem) {
  std::mutex mutex;
  std::condition_variable turned;
  std::size_t turn = 0;
  on.each(2, [&](std::size_t side) {
    for (std::size_t i = 0; i < problem.turns; ++i) {
      std::unique_lock lock{mutex};
      turned.wait(lock, [&] { return turn == side; });
      problem.turn(side);
      turn = 1 - side;
      lock.unlock();
      turned.notify_one();
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<problem_type, bench::threads_runtime>(argc, argv, "condition", [](auto& on, auto& problem) { run(on, problem); });
}
