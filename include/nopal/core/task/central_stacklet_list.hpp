#pragma once

// The central free list of segments: what the arenas of one pool give back. Any worker of the pool may call, under the list's lock. Next:
// arena.hpp, which takes them.

#include <array>
#include <cstddef>
#include <mutex>

#include "nopal/core/task/stacklet.hpp"

namespace nopal::core {

/// Segments that no arena uses, by size. They go back to the operating system with the pool, not earlier: a compiler may load speculatively
/// from the frame of a coroutine that another worker has just finished.
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

 private:
  std::mutex mutex_;
  std::array<stacklet*, 64> free_{};  // by log2 of the size, linked by `below`
};

}  // namespace nopal::core
