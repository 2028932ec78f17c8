// expect: nopal: the function cannot be called with these arguments.
#include <nopal/nopal.hpp>
#include <string>

nopal::task<> child(int n) {
  (void)n;
  co_return;
}
nopal::task<> parent() {
  co_await nopal::fork(child, std::string{"one"});
  co_await nopal::join;
}
