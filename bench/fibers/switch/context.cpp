// nopal's bare contexts: no scheduler, two stacks.

#include <nopal/core/stack/stack_pool.hpp>

#include "../../runtimes/nopal.hpp"
#include "switch.hpp"

namespace {

using nopal::core::context;

struct ping_pong {
  bench::switches<>* problem;
  context* begin;
  nopal::core::stack* a;
  nopal::core::stack* b;
};
ping_pong now;

void first(context& self) {
  for (std::size_t i = 0; i < now.problem->turns; ++i) {
    now.problem->turn(0);
    nopal::core::switch_to(self, *now.b);
  }
  nopal::core::switch_to(self, *now.b, nullptr, nopal::core::leaving::for_good);
}

void second(context& self) {
  for (std::size_t i = 0; i < now.problem->turns; ++i) {
    now.problem->turn(1);
    nopal::core::switch_to<nopal::core::ending::second_jump>(self, *now.a);
  }
  nopal::core::switch_to(self, *now.begin, nullptr, nopal::core::leaving::for_good);
}

struct two_stacks {
  explicit two_stacks(unsigned) {}
  static std::string version() { return bench::nopal_runtime::version(); }
  ~two_stacks() {
    stacks.put(a);
    stacks.put(b);
  }

  void run(bench::switches<>& problem) {
    context here;
    now = {&problem, &here, a, b};
    a->begin(first);
    b->begin(second);
    nopal::core::switch_to(here, *a);
    forget(*a);
    forget(*b);
  }

  nopal::core::stack_pool stacks{1 << 20, nopal::reclaim::dontneed, 2};
  nopal::core::stack* a = stacks.get();
  nopal::core::stack* b = stacks.get();
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::switches<>, two_stacks>(argc, argv, "context", [](auto& on, auto& problem) { on.run(problem); });
}
