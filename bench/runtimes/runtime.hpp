#pragma once

// The runtime that a program is compiled for: CMake defines one of the macros below, and NOPAL_BENCH_IMPL as the implementation's name.
// So a kernel is one source, and each program of it is compiled as though it were written for that library alone. Each has
//
//   runtime r; r.run(f, a...);      returns f(a...), which may fork
//   invoker i; i(f, g, ...);        runs all of them and waits: the first ones are forked, and the last is called. May be called again
//   group g; g.fork(f); g.join();   forks as many as there are, one by one, and waits for them; some have g.fork_and_join(f) for the last
//
// as far as its programs use them. The pack `on` of some functions is what a runtime has them pass on: the executor of Taskflow, and
// nothing elsewhere. Coroutines, and functions with OpenMP's pragmas, use `run` only and are written apart; a pragma in a function of its
// own, though that is inlined, asks OpenMP's library once more which thread it is on.

#include <string>
#include <utility>

#include "../harness.hpp"

#if defined(NOPAL_BENCH_SERIAL)
#include "serial.hpp"
#elif defined(NOPAL_BENCH_NATIVE) || defined(NOPAL_BENCH_SCOPE)
#include "nopal_invoke.hpp"
#elif defined(NOPAL_BENCH_TASK) || defined(NOPAL_BENCH_C)
#include "nopal.hpp"
#elif defined(NOPAL_BENCH_FIBER)
#include "nopal_fiber.hpp"
#elif defined(NOPAL_BENCH_TBB)
#include "tbb.hpp"
#elif defined(NOPAL_BENCH_OPENMP)
#include "openmp.hpp"
#elif defined(NOPAL_BENCH_LIBFORK)
#include "libfork.hpp"
#elif defined(NOPAL_BENCH_TASKFLOW)
#include "taskflow.hpp"
#elif defined(NOPAL_BENCH_THREADS)
#include "threads.hpp"
#else
#error "bench: CMake says which runtime this program is for"
#endif

// A kernel by coroutines is written apart.
#if defined(NOPAL_BENCH_TASK) || defined(NOPAL_BENCH_LIBFORK)
#define NOPAL_BENCH_COROUTINES
#endif

namespace bench {

// The program: statement(runtime, problem) is timed.
template <class Problem, class Runtime = runtime, class Statement>
int run_kernel(int argc, char** argv, Statement statement) {
  return run<Problem, Runtime>(argc, argv, NOPAL_BENCH_IMPL, statement);
}

}  // namespace bench
