#include "../../runtimes/nopal_invoke.hpp"
#include "nqueens.hpp"

namespace {

long nqueens(const bench::board& queens);

// The sum over the columns in [first, last), which are free.
long sum(const bench::board& queens, const std::uint8_t* first, const std::uint8_t* last) {
  if (first == last) return 0;
  if (last - first == 1) return nqueens(queens.with(*first));
  const std::uint8_t* const middle = first + (last - first) / 2;
  long a = 0;
  long b = 0;
  bench::invoke([&] { a = sum(queens, first, middle); }, [&] { b = sum(queens, middle, last); });
  return a + b;
}

long nqueens(const bench::board& queens) {
  if (queens.full()) return 1;
  std::array<std::uint8_t, bench::most_queens> columns;
  std::uint8_t* last = columns.data();
  if (queens.size > columns.size()) __builtin_unreachable();  // said, or GCC 12 warns of what it makes of the loop
  for (std::size_t column = 0; column < queens.size; ++column)
    if (queens.free(column)) *last++ = static_cast<std::uint8_t>(column);
  return sum(queens, columns.data(), last);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::nqueens_problem, bench::nopal_runtime>(argc, argv, bench::invoke_name, [](auto& on, auto& problem) {
    problem.answer = on.pool.run([&] { return nqueens(problem.empty()); });
  });
}
