#include "../../runtimes/libfork.hpp"
#include "flat.hpp"

namespace {

constexpr auto child = [](auto, std::uint32_t i) -> lf::task<std::uint32_t> { co_return bench::flat_problem::value(i); };

constexpr auto loop = [](auto, std::span<std::uint32_t> results) -> lf::task<> {
  for (std::uint32_t i = 0; i < results.size(); ++i) co_await lf::fork(&results[i], child)(i);
  co_await lf::join;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::flat_problem, bench::libfork_runtime>(
      argc, argv, "libfork", [](auto& on, auto& problem) { lf::sync_wait(on.pool, loop, std::span{problem.results}); });
}
