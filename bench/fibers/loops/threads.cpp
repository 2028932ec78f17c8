#include "../../runtimes/threads.hpp"
#include "loops.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::loops_problem, bench::threads_runtime>(argc, argv, "threads", [](auto& on, auto& problem) {
    on.split(problem.count, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) problem.work(i);
    });
  });
}
