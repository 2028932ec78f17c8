// expect: nopal: the function cannot be called with these arguments.
#include <nopal/nopal.hpp>

nopal::task<long> f(long n);

long from_outside(nopal::pool& pool) { return pool.run(f, 1L, 2L); }
