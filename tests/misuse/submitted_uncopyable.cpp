// expect: nopal::pool::submit and detach: the job keeps its closure by value, and this one cannot be copied. Write std::move(f).
#include <memory>
#include <nopal/nopal.hpp>

void from_outside(nopal::pool& pool) {
  auto const f = [p = std::make_unique<int>(1)] { return *p; };
  pool.submit(f).get();
}
