#include "../../runtimes/serial.hpp"
#include "submit.hpp"

// The jobs one after the other, by one thread.
int main(int argc, char** argv) {
  return bench::run<bench::submit_problem, bench::serial_runtime>(argc, argv, "serial", [](auto&, auto& problem) {
    for (std::uint32_t i = 0; i < problem.results.size(); ++i) problem.run_job(i);
  });
}
