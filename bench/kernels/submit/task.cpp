#include "../../runtimes/nopal.hpp"
#include "submit.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::submit_problem, bench::nopal_runtime>(
      argc, argv, "task", [](auto& on, auto& problem) { problem.submit([&on](auto job) { on.pool.detach(job); }); });
}
