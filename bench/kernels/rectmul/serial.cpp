#include "../../runtimes/serial.hpp"
#include "rectmul.hpp"

namespace {

void multiply(const bench::rectangle& at) {
  if (at.is_leaf()) return at.multiply();
  const bench::rectangle_halves half{at};
  multiply(half.first);
  multiply(half.second);
  half.add();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::rectmul_problem, bench::serial_runtime>(argc, argv, "serial",
                                                                   [](auto&, auto& problem) { multiply(bench::whole(problem)); });
}
