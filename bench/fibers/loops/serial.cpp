#include "../../runtimes/serial.hpp"
#include "loops.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::loops_problem, bench::serial_runtime>(argc, argv, "serial", [](auto&, auto& problem) {
    for (std::size_t i = 0; i < problem.count; ++i) problem.work(i);
  });
}
