#include "../../runtimes/serial.hpp"
#include "migration.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::migration_problem, bench::serial_runtime>(argc, argv, "serial", [](auto&, auto& problem) {
    for (std::size_t first = 0; first < problem.fibers(); first += problem.wave) {
      problem.begin_wave(first);
      for (std::size_t i = 0; i < problem.wave; ++i) problem.work(first + i, false);
    }
  });
}
