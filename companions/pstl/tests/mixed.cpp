// Two sources of one program, of which the other is compiled without <nopal/pstl.hpp>: each runs on its own back end, also where both call
// the same function of the standard library. Prints nothing, and returns 0, if that is so.

#include <algorithm>
#include <atomic>
#include <execution>
#include <vector>

#include "mixed.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace mixed {

std::atomic<int> on_nopal{0};

bool is_less::operator()(int a, int b) const {
  if (nopal::core::current_or_null() != nullptr) on_nopal.store(1);
  return a < b;
}

}  // namespace mixed

static bool sorts(void (*sort)(std::vector<int>&)) {
  std::vector<int> v(100'000);
  for (int i = 0; i < 100'000; ++i) v[static_cast<std::size_t>(i)] = static_cast<int>((i * 7919LL) % 100'003);
  sort(v);
  return std::is_sorted(v.begin(), v.end());
}

static void sort_here(std::vector<int>& v) { std::sort(std::execution::par, v.begin(), v.end(), mixed::is_less{}); }

int main() {
  if (!sorts(mixed::sort_there)) return 1;
  if (mixed::on_nopal.load() != 0) return 2;
  if (!sorts(sort_here)) return 3;
  if (mixed::on_nopal.load() == 0) return 4;
  return 0;
}
