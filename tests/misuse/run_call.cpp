// expect: nopal: here the function is called, and its task is given.
#include <nopal/nopal.hpp>

nopal::task<int> child(int n);
int root(nopal::pool& pool) { return pool.run(child(1)); }
