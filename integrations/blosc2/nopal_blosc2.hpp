#pragma once

// C-Blosc2 on nopal: the blocks of a buffer are compressed and decompressed on the workers of a pool, from any function that already runs
// there. README.md beside this says how to use it. Needs: C-Blosc2 2.0 or newer; not its header.

#include <nopal/algorithm/parallel_for.hpp>
#include <nopal/pool.hpp>
#include <nopal/stop.hpp>

#include <cstddef>

namespace nopal {

/// What blosc2_set_threads_callback is told, before any other function of C-Blosc2 is called: `blosc2_jobs::run`, and the address of an object
/// of this class, which outlives the last call.
///
///     nopal::blosc2_jobs jobs{pool};
///     blosc2_set_threads_callback(nopal::blosc2_jobs::run, &jobs);
///
/// On a worker of the pool the jobs are forked there: while it waits, the worker runs other jobs of the pool. On another thread they are handed
/// to the pool, and the caller works, too, in the place of a sleeping worker.
class blosc2_jobs {
 public:
  /// Works on `p`, which outlives it.
  explicit blosc2_jobs(pool& p = default_pool()) noexcept : pool_{p} {}

  /// Calls job(data + i * size) for each i of [0, count), some at once, and returns when all have returned, also where the caller is asked to
  /// stop: C-Blosc2 cannot be told. For want of memory it ends the program.
  static void run(void* self, void (*job)(void*), int count, std::size_t size, void* data) noexcept {
    pool& p = static_cast<blosc2_jobs*>(self)->pool_;
    auto const loop = [&] {
      parallel_for(
          0, count, [&](int i) { job(static_cast<char*>(data) + size * static_cast<std::size_t>(i)); }, grain{1});  // few, and long
    };
    without_stop([&] { pool::current() == &p ? loop() : p.run(loop); });
  }

 private:
  pool& pool_;
};

}  // namespace nopal
