// Several children fail; on every run the join rethrows the exception that serial execution would have thrown first.
// Work Θ(n), span Θ(n): the forks of one scope come one after the other.

#include <nopal/nopal.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

nopal::task<int> check(int item) {
  if (item % 10 == 7) throw std::runtime_error{"item " + std::to_string(item) + " is broken"};
  co_return item;
}

nopal::task<std::string> check_all(int items) {
  for (int i = 0; i < items; ++i) co_await nopal::fork(check, i);
  try {
    co_await nopal::join;  // all children have ended when it throws
  } catch (std::runtime_error const& e) {
    co_return e.what();
  }
  co_return "all is well";
}

int main() {
  nopal::pool pool;
  for (int k = 0; k < 100; ++k) {
    if (pool.run(check_all, 100) != "item 7 is broken") return 1;
  }
  std::string const clean = pool.run(check_all, 7);
  std::string const broken = pool.run(check_all, 100);
  std::printf("7 items: %s\n100 items: %s\n", clean.c_str(), broken.c_str());
  try {
    pool.run(check, 17);  // run throws what no function catches
  } catch (std::runtime_error const& e) {
    std::printf("run: %s\n", e.what());
    return clean == "all is well" ? 0 : 1;
  }
  return 1;
}
