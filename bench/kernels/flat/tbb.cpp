#include "../../runtimes/tbb.hpp"

#include "flat.hpp"

namespace {

void loop(std::span<std::uint32_t> results) {
  tbb::task_group group;
  for (std::uint32_t i = 0; i < results.size(); ++i) group.run([&result = results[i], i] { result = bench::flat_problem::value(i); });
  group.wait();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::flat_problem, bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, auto& problem) { on.arena.execute([&] { loop(problem.results); }); });
}
