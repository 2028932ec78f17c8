#include "../../runtimes/serial.hpp"
#include "mergesort.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::mergesort_problem, bench::serial_runtime>(argc, argv, "serial",
                                                                     [](auto&, auto& problem) { problem.sort_serially(problem.all()); });
}
