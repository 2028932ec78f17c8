#include "../../runtimes/tbb.hpp"

#include "strassen.hpp"

namespace {

template <class Body>
void for_rows(std::size_t first, std::size_t last, const Body& body) {
  if (last - first == 1) return body(first);
  const std::size_t middle = first + (last - first) / 2;
  tbb::task_group group;
  group.run([&] { for_rows(first, middle, body); });
  for_rows(middle, last, body);
  group.wait();
}

void multiply(const bench::square& at) {
  if (at.is_leaf()) return at.multiply();
  const bench::seven_products seven{at};
  for_rows(0, seven.height, [&](std::size_t row) { seven.form_factors(row); });
  tbb::task_group group;
  for (std::size_t i = 0; i < 6; ++i) group.run([&product = seven.products[i]] { multiply(product); });
  multiply(seven.products[6]);
  group.wait();
  for_rows(0, seven.height, [&](std::size_t row) { seven.add_products(row); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::strassen_problem, bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, auto& problem) { on.arena.execute([&] { multiply(bench::whole(problem)); }); });
}
