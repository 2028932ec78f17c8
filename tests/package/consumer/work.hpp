#pragma once

// The use of nopal by each binary of a consumer, through a table: so that several of them in one process can call each other.

#include <nopal/nopal.hpp>

struct side {
  /// All front ends, on `pool`, until stacks have migrated: null, or an error. From a thread that works for no pool.
  char const* (*work)(nopal::pool& pool);
  /// Fork and join in ordinary functions and in tasks, on the pool of the worker that calls. Every other call is to the other side.
  long (*fib)(long n, side const* other);
  nopal::task<long> (*task_fib)(long n, side const* other);
};

/// Each is defined by work.cpp, compiled with SIDE=name, in a program or in a library.
extern "C" {
side const* program_side();
side const* one_side();
side const* other_side();
/// A pool of its own, and work_together on it. For a program that does not use nopal.
char const* one_alone(side const* other);
}

/// Both sides on one pool, and through each other. Null, or an error.
inline char const* work_together(nopal::pool& pool, side const* a, side const* b) {
  for (side const* s : {a, b}) {
    if (char const* const wrong = s->work(pool)) return wrong;
  }
  for (auto [mine, yours] : {std::pair{a, b}, std::pair{b, a}}) {
    if (pool.run(mine->fib, 18L, yours) != 2584) return "fib(18) through both sides, by functions";
    if (pool.run(mine->task_fib, 18L, yours) != 2584) return "fib(18) through both sides, by tasks";
    nopal::counter left;
    long sum = 0;
    nopal::mutex guard;
    pool.run([&] {
      for (int k = 0; k < 20; ++k) {
        nopal::spawn(left, [&] {
          long const n = mine->fib(8, yours);
          std::lock_guard const lock{guard};
          sum += n;
        });
      }
      nopal::wait_for(left);
    });
    if (sum != 20 * 21) return "fibers of one side that call the other";
  }
  return nullptr;
}
