// expect: nopal: scope::fork takes something to be called without arguments. Write s.fork([=] { f(a, b); })
#include <nopal/nopal.hpp>

void f(int);

void parent() {
  nopal::scope s;
  s.fork(f);
}
