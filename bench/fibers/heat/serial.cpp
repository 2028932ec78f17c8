#include "../../runtimes/serial.hpp"
#include "heat.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::heat_of_strips, bench::serial_runtime>(argc, argv, "serial", [](auto&, auto& problem) {
    for (std::size_t step = 0; step < problem.steps; ++step) {
      for (std::size_t i = 0; i < problem.strips; ++i) problem.step_of(i);
      problem.next();
    }
  });
}
