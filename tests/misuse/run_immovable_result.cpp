// expect: nopal: what this function returns cannot be moved to the caller that waits for it. Let it fill an object of the caller's.
#include <atomic>
#include <nopal/nopal.hpp>

std::atomic<int> f();

void from_outside(nopal::pool& pool) { pool.run(f); }
