// expect: nopal: here the function is called, and its task is given.
#include <nopal/nopal.hpp>

nopal::task<int> child(int n);
int root() { return nopal::sync_wait(child(1)); }
