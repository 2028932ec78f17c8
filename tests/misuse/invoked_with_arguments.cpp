// expect: nopal: parallel_invoke calls each of its arguments as it was given and without arguments. Write [&] { f(a, b); } for f(a, b).
#include <nopal/nopal.hpp>

int f(int n);

void parent() {
  nopal::parallel_invoke([] {}, f);
}
