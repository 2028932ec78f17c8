// expect: nopal: here the function is called, and its task is given.
#include <nopal/nopal.hpp>

nopal::task<int> child(int n);
void root(nopal::pool& pool) { auto f = pool.submit(child(1)); }
