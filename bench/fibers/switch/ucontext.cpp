#include <ucontext.h>

#include <vector>

#include "../../runtimes/threads.hpp"
#include "switch.hpp"

namespace {

using problem_type = bench::switches<20>;

struct ping_pong {
  problem_type* problem;
  ucontext_t begin, a, b;
};
ping_pong now;

void first() {
  for (std::size_t i = 0; i < now.problem->turns; ++i) {
    now.problem->turn(0);
    swapcontext(&now.a, &now.b);
  }
  setcontext(&now.b);
}

void second() {
  for (std::size_t i = 0; i < now.problem->turns; ++i) {
    now.problem->turn(1);
    swapcontext(&now.b, &now.a);
  }
  setcontext(&now.begin);
}

void prepare(ucontext_t& context, std::vector<std::byte>& stack, void (*body)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = stack.data();
  context.uc_stack.ss_size = stack.size();
  makecontext(&context, body, 0);
}

void run(problem_type& problem) {
  std::vector<std::byte> a(64 * 1024);
  std::vector<std::byte> b(64 * 1024);
  now.problem = &problem;
  prepare(now.a, a, first);
  prepare(now.b, b, second);
  swapcontext(&now.begin, &now.a);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<problem_type, bench::threads_runtime>(argc, argv, "ucontext", [](auto&, auto& problem) { run(problem); });
}
