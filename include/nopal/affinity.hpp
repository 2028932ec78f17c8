#pragma once

// affinity: lets the blocks of a loop come back to the workers that had them. Next: core/loop/kept_blocks.hpp, how.

#include "nopal/core/compiler/config.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "nopal/core/loop/kept_blocks.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {
class uses_affinity;
}

/// Remembers which worker ran which part of a loop. Given to parallel_for or parallel_for_blocks again and again, each part runs on the
/// worker that had it last, whose caches hold its data, and on whose NUMA node that lies if that loop was the first to touch it. It is a
/// preference: a worker that has nothing else takes parts of others, and has them from then on. So a loop never waits for a worker that is
/// busy elsewhere.
///
/// For loops over the same elements that take each worker some 50 µs or more: each loop gives every worker its parts, at most 8, which
/// costs some microseconds. Where pool or number of iterations change, it begins anew, with consecutive parts for each worker. One loop at a
/// time may use it: another one throws std::logic_error.
///
///     nopal::affinity keep;
///     for (int step = 0; step < steps; ++step) nopal::parallel_for(0, n, [&](int i) { next[i] = relax(now, i); }, keep);
class affinity {
 public:
  affinity() noexcept = default;
  affinity(affinity const&) = delete;
  affinity& operator=(affinity const&) = delete;

 private:
  friend core::uses_affinity;
  core::kept_blocks_ptr kept_;
  std::atomic<bool> is_used_{false};
};

namespace core {

/// A loop uses it while this lives.
class uses_affinity {
 public:
  explicit uses_affinity(affinity& a) : of_{a} {
    if (a.is_used_.exchange(true, std::memory_order_acquire))  // acquire: pairs with the release of the loop before
      throw std::logic_error{"nopal::affinity: two loops use it at once; give each loop an affinity of its own"};
  }
  uses_affinity(uses_affinity const&) = delete;
  uses_affinity& operator=(uses_affinity const&) = delete;
  ~uses_affinity() { of_.is_used_.store(false, std::memory_order_release); }  // release: pairs with the acquire of the next loop

  /// As run_kept_blocks, for a callable.
  template <class Blocks>
  void run(std::uint64_t count, Blocks& blocks) {
    run_kept_blocks(
        of_.kept_, count, [](void* f, std::uint64_t from, std::uint64_t to) { (*static_cast<Blocks*>(f))(from, to); },
        std::addressof(blocks));
  }

 private:
  affinity& of_;
};

}  // namespace core

}  // namespace nopal
