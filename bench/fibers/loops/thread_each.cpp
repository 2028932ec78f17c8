#include "../../runtimes/threads.hpp"
#include "loops.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::loops_problem, bench::threads_runtime>(
      argc, argv, "thread_each", [](auto& on, auto& problem) { on.each(problem.count, [&](std::size_t i) { problem.work(i); }); });
}
