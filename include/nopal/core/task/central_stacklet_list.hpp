#pragma once

// The central free list of segments: what the arenas of one pool give back. Any worker of the pool may call, under the list's lock. Next:
// arena.hpp, which takes them.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "nopal/core/task/stacklet.hpp"

namespace nopal::core {

/// Segments that no arena uses, by size. They stay mapped as long as the pool, since a compiler may load speculatively from the frame of a
/// coroutine that another worker has just finished. But their pages go back to the system once nothing has used the list for a while.
class central_stacklet_list {
 public:
  central_stacklet_list() = default;
  central_stacklet_list(central_stacklet_list const&) = delete;
  central_stacklet_list& operator=(central_stacklet_list const&) = delete;
  ~central_stacklet_list();

  /// A block of at least `bytes`, its head included: the next power of two. Throws std::bad_alloc.
  stacklet* get(std::size_t bytes);
  /// Takes back what get gave.
  void put(stacklet* s) noexcept;

  /// Bytes in the list whose pages have not gone back. Any thread. relaxed: a hint.
  std::size_t spare() const noexcept { return spare_.load(std::memory_order_relaxed); }
  /// Gives the pages of all segments in the list back to the system, if nothing was taken from it since the last call. False: something was.
  /// By the pool's timer.
  bool trim() noexcept;

 private:
  using lists = std::array<stacklet*, 64>;  // by log2 of the size, linked by `below`
  static void push(lists& l, stacklet* s) noexcept;
  void changed(std::size_t bytes) noexcept;

  std::mutex mutex_;
  lists free_{};
  std::uint64_t taken_ = 0, taken_before_ = 0;  // how many segments, and how many by the last trim
  std::atomic<std::size_t> spare_{0};           // written under the mutex
};

}  // namespace nopal::core
