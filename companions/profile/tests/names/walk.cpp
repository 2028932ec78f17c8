#include "walk.hpp"

#include "nopal/native.hpp"

void walk::visit(int n) {
  last_ = n;
  children_.fork([this, n] { visited_[static_cast<std::size_t>(n)] = n; });
}
void walk::end() {
  children_.join();
  visited_.push_back(last_);
}
nopal::task<int> twice(int n) { co_return 2 * n; }
void both(std::function<void()> const& f, std::function<void()> const& g) { nopal::parallel_invoke(f, g); }
