// expect: future
#include <nopal/nopal.hpp>

void root(nopal::pool& pool) {
  auto f = pool.submit([] { return 1; });
  auto g = f;
}
