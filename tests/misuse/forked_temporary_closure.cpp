// expect: nopal::fork: this closure is a temporary, which dies before the child does. Give it a name that outlives the join
#include <nopal/nopal.hpp>

nopal::task<> parent(int n) {
  co_await nopal::fork([n]() -> nopal::task<> {
    (void)n;
    co_return;
  });
  co_await nopal::join;
}
