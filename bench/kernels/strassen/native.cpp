#include "../../runtimes/nopal_invoke.hpp"
#include "strassen.hpp"

namespace {

template <class Body>
void for_rows(std::size_t first, std::size_t last, const Body& body) {
  if (last - first == 1) return body(first);
  const std::size_t middle = first + (last - first) / 2;
  bench::invoke([&] { for_rows(first, middle, body); }, [&] { for_rows(middle, last, body); });
}

void multiply(const bench::square& at) {
  if (at.is_leaf()) return at.multiply();
  const bench::seven_products seven{at};
  const auto& p = seven.products;
  for_rows(0, seven.height, [&](std::size_t row) { seven.form_factors(row); });
  bench::invoke([&] { multiply(p[0]); }, [&] { multiply(p[1]); }, [&] { multiply(p[2]); }, [&] { multiply(p[3]); }, [&] { multiply(p[4]); },
                [&] { multiply(p[5]); }, [&] { multiply(p[6]); });
  for_rows(0, seven.height, [&](std::size_t row) { seven.add_products(row); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::strassen_problem, bench::nopal_runtime>(
      argc, argv, bench::invoke_name, [](auto& on, auto& problem) { on.pool.run([&] { multiply(bench::whole(problem)); }); });
}
