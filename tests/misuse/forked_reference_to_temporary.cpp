// expect: nopal::fork: this parameter is a reference and its argument is a temporary, which dies before the child does.
#include <nopal/nopal.hpp>
#include <vector>

nopal::task<> child(std::vector<int> const& v) {
  (void)v;
  co_return;
}
nopal::task<> parent() {
  co_await nopal::fork(child, std::vector<int>(3));
  co_await nopal::join;
}
