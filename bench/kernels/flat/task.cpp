#include "../../runtimes/nopal.hpp"
#include "flat.hpp"

namespace {

nopal::task<std::uint32_t> child(std::uint32_t i) { co_return bench::flat_problem::value(i); }

nopal::task<void> loop(std::span<std::uint32_t> results) {
  for (std::uint32_t i = 0; i < results.size(); ++i) co_await nopal::fork(&results[i], child, i);
  co_await nopal::join;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::flat_problem, bench::nopal_runtime>(
      argc, argv, "task", [](auto& on, auto& problem) { on.pool.run(loop, std::span{problem.results}); });
}
