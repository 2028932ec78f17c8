#include "../../runtimes/serial.hpp"
#include "switch.hpp"

namespace {

// A call, and a return, take the place of a switch.
[[gnu::noinline]] void other(bench::switches<>& problem) { problem.turn(1); }

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::switches<>, bench::serial_runtime>(argc, argv, "serial", [](auto&, auto& problem) {
    for (std::size_t i = 0; i < problem.turns; ++i) {
      problem.turn(0);
      other(problem);
    }
  });
}
