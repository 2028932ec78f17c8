#include "../../runtimes/serial.hpp"
#include "flat.hpp"

namespace {

void loop(std::span<std::uint32_t> results) {
  for (std::uint32_t i = 0; i < results.size(); ++i) results[i] = bench::flat_problem::value(i);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::flat_problem, bench::serial_runtime>(argc, argv, "serial", [](auto&, auto& problem) { loop(problem.results); });
}
