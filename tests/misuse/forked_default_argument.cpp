// expect: nopal: a reference parameter of this coroutine has a default argument, which may die before the coroutine does.
#include <nopal/nopal.hpp>
#include <string>

nopal::task<> parent() {
  auto const child = [](int n, std::string const& s = "it would be a temporary std::string") -> nopal::task<int> {
    co_return n + static_cast<int>(s.size());
  };
  int n = 0;
  co_await nopal::fork(&n, child, 1);
  co_await nopal::join;
}
