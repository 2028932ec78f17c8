#include <boost/context/fiber.hpp>

#include <utility>

#include "../../runtimes/boost.hpp"
#include "switch.hpp"

namespace {

using boost::context::fiber;

void run(bench::switches<>& problem) {
  fiber second{[&](fiber&& first) {
    for (std::size_t i = 0; i < problem.turns; ++i) {
      problem.turn(1);
      first = std::move(first).resume();
    }
    return std::move(first);
  }};
  fiber first{[&](fiber&& begin) {
    for (std::size_t i = 0; i < problem.turns; ++i) {
      problem.turn(0);
      second = std::move(second).resume();
    }
    second = std::move(second).resume();  // to its end
    return std::move(begin);
  }};
  first = std::move(first).resume();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::switches<>, bench::boost_runtime>(argc, argv, "boost_context", [](auto&, auto& problem) { run(problem); });
}
