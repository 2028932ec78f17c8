#include "../../runtimes/serial.hpp"
#include "../crowd.hpp"

namespace {

using problem_type = bench::crowd<bench::crowd_kind::empty>;

[[gnu::noinline]] void run(problem_type& problem) {
  ++problem.ran;
  bench::make_opaque(problem);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<problem_type, bench::serial_runtime>(argc, argv, "serial", [](auto&, auto& problem) {
    for (std::size_t i = 0; i < problem.n; ++i) run(problem);
  });
}
