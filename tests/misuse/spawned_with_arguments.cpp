// expect: nopal: spawn takes something to be called without arguments. Write spawn([=] { f(a, b); })
#include <nopal/nopal.hpp>

void f(int);

void parent() { nopal::spawn(f); }
