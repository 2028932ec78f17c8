#pragma once

// libjxl's parallel runner on nopal: an encoder or a decoder forks on the workers of a pool, from any function that already runs there.
// README.md beside this says how to use it. Needs: libjxl's <jxl/parallel_runner.h>, 0.7 or newer.

#include <jxl/parallel_runner.h>
#include <nopal/algorithm/parallel_for.hpp>
#include <nopal/pool.hpp>
#include <nopal/stop.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nopal {

/// What JxlEncoderSetParallelRunner and JxlDecoderSetParallelRunner are told: `jxl_runner::run`, and the address of an object of this class,
/// which outlives the encoder or decoder. Any number of them, on any threads, may share one.
///
///     nopal::jxl_runner runner{pool};
///     JxlEncoderSetParallelRunner(encoder, nopal::jxl_runner::run, &runner);
///
/// On a worker of the pool libjxl's work is forked there: while it waits, the worker runs other jobs of the pool. On another thread it is
/// handed to the pool, and the caller works, too, in the place of a sleeping worker.
class jxl_runner {
 public:
  /// Works on `p`, which outlives it.
  explicit jxl_runner(pool& p = default_pool()) noexcept : pool_{p} {}

  /// A JxlParallelRunner: calls init(image, number of thread numbers), and func(image, i, thread number) for each i of [first, last), where
  /// no two calls that run at once have the same thread number. Returns what `init` returns, if that is not 0, and
  /// JXL_PARALLEL_RET_RUNNER_ERROR where there is no memory. It calls them all also where the caller is asked to stop: of an error libjxl
  /// makes no image, or the end of the program.
  static JxlParallelRetCode run(void* self, void* image, JxlParallelRunInit init, JxlParallelRunFunction func, std::uint32_t first,
                                std::uint32_t last) noexcept {
    pool& p = static_cast<jxl_runner*>(self)->pool_;
    try {
      thread_numbers numbers{p.workers() + std::size_t{1}};
      if (JxlParallelRetCode const refused = init(image, numbers.size()); refused != 0) return refused;
      if (first >= last) return 0;
      auto const loop = [&] {
        parallel_for(
            first, last,
            [&](std::uint32_t i) {
              std::size_t const mine = numbers.take();
              func(image, i, mine);
              numbers.give_back(mine);
            },
            grain{1});  // a part of an image takes long
      };
      without_stop([&] { pool::current() == &p ? loop() : p.run(loop); });
      return 0;
    } catch (...) {  // for want of memory
      return JXL_PARALLEL_RET_RUNNER_ERROR;
    }
  }

 private:
  /// Numbers that calls have which run at once. As many as can run at once, so one is always free.
  class thread_numbers {
   public:
    explicit thread_numbers(std::size_t n) : size_{n}, taken_((n + 63) / 64) {}
    std::size_t size() const noexcept { return size_; }
    /// The lowest that is free: libjxl keeps memory for each.
    std::size_t take() noexcept {
      for (std::size_t word = 0;; word = (word + 1) % taken_.size()) {
        std::uint64_t before = taken_[word].load(std::memory_order_relaxed);  // relaxed: the exchange decides
        while (before != ~std::uint64_t{0}) {
          int const bit = std::countr_one(before);
          // acquire: pairs with give_back, for the memory that goes with the number
          if (taken_[word].compare_exchange_weak(before, before | std::uint64_t{1} << bit, std::memory_order_acquire,
                                                 std::memory_order_relaxed)) {
            return word * 64 + static_cast<std::size_t>(bit);
          }
        }
      }
    }
    void give_back(std::size_t k) noexcept {
      taken_[k / 64].fetch_and(~(std::uint64_t{1} << k % 64), std::memory_order_release);  // release: pairs with take
    }

   private:
    std::size_t const size_;
    std::vector<std::atomic<std::uint64_t>> taken_;
  };

  pool& pool_;
};

}  // namespace nopal
