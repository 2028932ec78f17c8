// expect: deleted
#include <nopal/nopal.hpp>
#include <span>

nopal::task<> parent() {
  std::span<int> const all = co_await nopal::stack_array<int>(3);
  all[0] = 1;
}
