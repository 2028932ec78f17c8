#pragma once

// Halide's parallel loops on nopal: a pipeline forks on the workers of the pool that the caller works for. README.md beside this says how to
// use it. Needs: Halide 14 or newer; none of its headers.

#include <nopal/algorithm/parallel_for.hpp>
#include <nopal/stop.hpp>

#include <atomic>
#include <cstdint>

namespace nopal {

/// What Halide is told, before the first pipeline runs: in programs with pipelines that were compiled ahead of time
///
///     halide_set_custom_do_par_for(nopal::halide_par_for);
///
/// and for those compiled while the program runs
///
///     pipeline.jit_handlers().custom_do_par_for = nopal::halide_par_for;
///
/// Calls task(context, i, closure) for each i of [first, first + count), some at once. On a worker of a pool they are forked there: while it
/// waits, it runs other jobs of the pool. On other threads they run on default_pool(). Returns 0, or what one of the calls has returned that
/// is not 0: then those that have not begun are left out. A request to stop leaves out none. For want of memory it ends the program.
template <class Context>
int halide_par_for(Context* context, int (*task)(Context*, int, std::uint8_t*), int first, int count, std::uint8_t* closure) noexcept {
  std::atomic<int> failed{0};
  without_stop([&] {
    parallel_for(0, count, [&](int i) {
      if (failed.load(std::memory_order_relaxed) != 0) return;  // relaxed: it only saves work; the loop's end carries the value
      if (int const status = task(context, first + i, closure); status != 0)
        failed.store(status, std::memory_order_relaxed);  // relaxed: as above
    });
  });
  return failed.load(std::memory_order_relaxed);  // relaxed: after the loop
}

}  // namespace nopal
