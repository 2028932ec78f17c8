#pragma once

// FFTW's loops on nopal: a transform forks on the workers of a pool, from any function that already runs there. README.md beside this says how
// to use it. Needs: FFTW 3.3.9 or newer with threads, of any precision; not its header.

#include <nopal/algorithm/parallel_for.hpp>
#include <nopal/pool.hpp>
#include <nopal/stop.hpp>

#include <cstddef>

namespace nopal {

/// What fftw_threads_set_callback is told, and those of the other precisions: `fftw_loops::run`, and the address of an object of this class,
/// which outlives the last transform.
///
///     nopal::fftw_loops loops{pool};
///     fftw_init_threads();
///     fftw_threads_set_callback(nopal::fftw_loops::run, &loops);
///     fftw_plan_with_nthreads(static_cast<int>(pool.workers()));  // for the plans that follow
///
/// On a worker of the pool the parts of a transform are forked there: while it waits, the worker runs other jobs of the pool. On another thread
/// they are handed to the pool, and the caller works, too, in the place of a sleeping worker.
class fftw_loops {
 public:
  /// Works on `p`, which outlives it.
  explicit fftw_loops(pool& p = default_pool()) noexcept : pool_{p} {}

  /// Calls work(jobs + i * size) for each i of [0, count), some at once, and returns when all have returned, also where the caller is asked to
  /// stop: FFTW cannot be told. For want of memory it ends the program.
  static void run(void* (*work)(char*), char* jobs, std::size_t size, int count, void* self) noexcept {
    pool& p = static_cast<fftw_loops*>(self)->pool_;
    auto const loop = [&] {
      parallel_for(0, count, [&](int i) { work(jobs + size * static_cast<std::size_t>(i)); }, grain{1});  // FFTW makes few and long ones
    };
    without_stop([&] { pool::current() == &p ? loop() : p.run(loop); });
  }

 private:
  pool& pool_;
};

}  // namespace nopal
