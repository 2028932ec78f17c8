#include "../../runtimes/serial.hpp"
#include "nqueens.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::nqueens_by_prefix, bench::serial_runtime>(argc, argv, "serial", [](auto&, auto& problem) {
    problem.answer = 0;
    problem.each_prefix([&](const auto& queens) { problem.answer += problem.solutions(queens); });
  });
}
