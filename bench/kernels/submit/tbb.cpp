#include "../../runtimes/tbb.hpp"

#include "submit.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::submit_problem, bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, auto& problem) { problem.submit([&on](auto job) { on.arena.enqueue(job); }); });
}
