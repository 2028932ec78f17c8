#include <boost/fiber/fiber.hpp>
#include <boost/fiber/pooled_fixedsize_stack.hpp>

#include <memory>
#include <vector>

#include "../../runtimes/boost.hpp"
#include "../crowd.hpp"

namespace {

using problem_type = bench::crowd<bench::crowd_kind::empty, 100>;

void run(problem_type& problem) {
  boost::fibers::pooled_fixedsize_stack stacks;
  std::vector<boost::fibers::fiber> fibers;
  problem.each_batch([&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) fibers.emplace_back(std::allocator_arg, stacks, [&problem] { ++problem.ran; });
    for (auto& one : fibers) one.join();
    fibers.clear();
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<problem_type, bench::boost_runtime>(argc, argv, "boost_fiber", [](auto&, auto& problem) { run(problem); });
}
