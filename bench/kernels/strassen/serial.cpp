#include "../../runtimes/serial.hpp"
#include "strassen.hpp"

namespace {

void multiply(const bench::square& at) {
  if (at.is_leaf()) return at.multiply();
  const bench::seven_products seven{at};
  for (std::size_t row = 0; row < seven.height; ++row) seven.form_factors(row);
  for (const bench::square& product : seven.products) multiply(product);
  for (std::size_t row = 0; row < seven.height; ++row) seven.add_products(row);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::strassen_problem, bench::serial_runtime>(argc, argv, "serial",
                                                                    [](auto&, auto& problem) { multiply(bench::whole(problem)); });
}
