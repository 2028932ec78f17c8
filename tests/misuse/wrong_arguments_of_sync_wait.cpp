// expect: nopal: the function cannot be called with these arguments.
#include <nopal/nopal.hpp>
#include <string>

int f(int n);

void from_outside(nopal::pool& pool) {
  (void)pool;
  int const n = nopal::sync_wait(f, std::string{"one"});
  (void)n;
}
