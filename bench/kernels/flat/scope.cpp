#include "../../runtimes/nopal.hpp"
#include "flat.hpp"

namespace {

void loop(std::span<std::uint32_t> results) {
  nopal::scope s;
  for (std::uint32_t i = 0; i < results.size(); ++i) s.fork([&to = results[i], i] { to = bench::flat_problem::value(i); });
  s.join();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::flat_problem, bench::nopal_runtime>(
      argc, argv, "scope", [](auto& on, auto& problem) { on.pool.run(loop, std::span{problem.results}); });
}
