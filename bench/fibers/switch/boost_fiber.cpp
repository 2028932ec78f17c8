#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>

#include "../../runtimes/boost.hpp"
#include "switch.hpp"

namespace {

using problem_type = bench::switches<5>;

void run(problem_type& problem) {
  const auto turns_of = [&](std::size_t side) {
    return [&problem, side] {
      for (std::size_t i = 0; i < problem.turns; ++i) {
        problem.turn(side);
        boost::this_fiber::yield();
      }
    };
  };
  boost::fibers::fiber first{turns_of(0)};
  boost::fibers::fiber second{turns_of(1)};
  first.join();
  second.join();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<problem_type, bench::boost_runtime>(argc, argv, "boost_fiber", [](auto&, auto& problem) { run(problem); });
}
