#include "strassen.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_TASK)
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
#else
template <class Body>
void for_rows(std::size_t first, std::size_t last, const Body& body) {
  if (last - first == 1) return body(first);
  const std::size_t middle = first + (last - first) / 2;
  bench::invoker invoke;
  invoke([&] { for_rows(first, middle, body); }, [&] { for_rows(middle, last, body); });
}

void multiply(const bench::square& at) {
  if (at.is_leaf()) return at.multiply();
  const bench::seven_products seven{at};
  const auto& p = seven.products;
  for_rows(0, seven.height, [&](std::size_t row) { seven.form_factors(row); });
  bench::invoker invoke;
  invoke([&] { multiply(p[0]); }, [&] { multiply(p[1]); }, [&] { multiply(p[2]); }, [&] { multiply(p[3]); }, [&] { multiply(p[4]); },
         [&] { multiply(p[5]); }, [&] { multiply(p[6]); });
  for_rows(0, seven.height, [&](std::size_t row) { seven.add_products(row); });
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::strassen_problem>(argc, argv, [](auto& on, auto& problem) { on.run(multiply, bench::whole(problem)); });
}
