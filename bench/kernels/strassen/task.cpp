#include "../../runtimes/nopal.hpp"
#include "strassen.hpp"

namespace {

nopal::task<void> for_rows(std::size_t first, std::size_t last, const bench::seven_products& of, bool form) {
  if (last - first == 1) {
    form ? of.form_factors(first) : of.add_products(first);
    co_return;
  }
  const std::size_t middle = first + (last - first) / 2;
  co_await nopal::fork(for_rows, first, middle, of, form);
  co_await nopal::call(for_rows, middle, last, of, form);
  co_await nopal::join;
}

nopal::task<void> multiply(bench::square at) {
  if (at.is_leaf()) {
    at.multiply();
    co_return;
  }
  const bench::seven_products seven{at};
  const auto& p = seven.products;
  co_await nopal::call(for_rows, std::size_t{0}, seven.height, seven, true);
  for (std::size_t i = 0; i < 6; ++i) co_await nopal::fork(multiply, p[i]);
  co_await nopal::call(multiply, p[6]);
  co_await nopal::join;
  co_await nopal::call(for_rows, std::size_t{0}, seven.height, seven, false);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::strassen_problem, bench::nopal_runtime>(
      argc, argv, "task", [](auto& on, auto& problem) { on.pool.run(multiply, bench::whole(problem)); });
}
