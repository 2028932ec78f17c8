// expect: nopal: the function cannot be called with these arguments.
#include <nopal/nopal.hpp>
#include <string>

int f(int n);

void from_outside(nopal::pool& pool) { pool.detach(f, std::string{"one"}); }
