#include "../../runtimes/libfork.hpp"
#include "nqueens.hpp"

namespace {

constexpr auto nqueens = [](auto self, bench::board queens) -> lf::task<long> {
  if (queens.full()) co_return 1;
  bench::counts parts{};
  for (std::size_t column = 0; column < queens.size; ++column)
    if (queens.free(column)) co_await lf::fork(&parts[column], self)(queens.with(column));
  co_await lf::join;
  co_return queens.sum(parts);
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::nqueens_problem, bench::libfork_runtime>(
      argc, argv, "libfork", [](auto& on, auto& problem) { problem.answer = lf::sync_wait(on.pool, nqueens, problem.empty()); });
}
