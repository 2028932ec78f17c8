#pragma once

// One segment of the segmented stack of task frames. Only its arena, and the worker that has the arena, may touch it. Next: arena.hpp.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// The head of one segment; its bytes follow.
struct alignas(64) stacklet {
  stacklet* below;       ///< the segment under this one; null in the first
  std::byte* top;        ///< first free byte, while no worker has the arena
  std::size_t size;      ///< bytes of the whole block, a power of two
  std::uint64_t epoch;   ///< the arena's epoch, while no worker has it
  std::uintptr_t alarm;  ///< the worker's alarm before this segment was added: grow_arena in slow_path.hpp
  std::int64_t floor;    ///< the deque's bottom when this segment was added: no pop makes an older entry private again, see worker::floor

  std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  std::byte* end() noexcept { return reinterpret_cast<std::byte*>(this) + size; }
};

// The central free list of segments: what the arenas of one pool give back. Any worker of the pool may call, under the list's lock. Next:
// arena.hpp, which takes them.

/// Bytes of the segments of one pool.
struct stacklet_counts {
  std::uint64_t used;       ///< of segments that arenas have now
  std::uint64_t used_peak;  ///< the most at any time
  std::uint64_t free;       ///< of segments in the list whose pages have not gone back to the system
};

/// Segments that no arena uses, by size. They stay mapped as long as the pool, since a compiler may load speculatively from the frame of a
/// coroutine that another worker has just finished. But their pages go back to the system: of segments that no arena has needed for a
/// while; and at once if `used + free` would exceed `used_peak`. So the list keeps no memory of one size while the pool grows in another.
class central_stacklet_list {
 public:
  /// Called with `with` whenever the list holds more than tuning::little_memory after a put. By any worker, without the lock.
  using much_function = void (*)(void* with) noexcept;
  explicit central_stacklet_list(much_function much = nullptr, void* with = nullptr) noexcept : much_{much}, with_{with} {}
  central_stacklet_list(central_stacklet_list const&) = delete;
  central_stacklet_list& operator=(central_stacklet_list const&) = delete;
  ~central_stacklet_list();

  /// A block of at least `bytes`, its head included: the next power of two. Throws std::bad_alloc.
  stacklet* get(std::size_t bytes);
  /// Takes back a block that get returned.
  void put(stacklet* s) noexcept;

  /// Bytes in the list whose pages have not gone back. Any thread. relaxed: a hint.
  std::size_t spare() const noexcept { return spare_.load(std::memory_order_relaxed); }
  /// Bytes of the segments that arenas of this pool have now. Not exact, since a task that moves to another pool takes its segments along,
  /// and they are put back there. But never more than those of all pools. Any thread.
  std::size_t used_at_most() const noexcept;
  /// Gives back the pages of segments that no arena has needed since the last call. By the pool's timer. O(segments in the list).
  void trim() noexcept;
  /// Any thread. Takes the mutex.
  stacklet_counts counts() const noexcept;

 private:
  static constexpr std::size_t classes = 64;  // by log2 of the size

  // relaxed: it orders nothing.
  std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

  /// A list of segments, linked by `below`.
  struct chain {
    stacklet* first = nullptr;
    void push(stacklet* s) noexcept;
    stacklet* pop() noexcept;  // null: it is empty
  };
  struct size_class {
    chain touched, clean;              // clean: pages given back, all but the first of each
    std::size_t count = 0, least = 0;  // of the touched ones: now, and the fewest since the last trim
  };

  stacklet* take_touched(size_class& c) noexcept;
  void taken(std::size_t bytes) noexcept;
  void changed(std::size_t bytes) noexcept;
  chain take_excess() noexcept;
  void discard(chain which) noexcept;

  much_function const much_;
  void* const with_;
  mutable own_mutex mutex_;
  std::array<size_class, classes> by_size_{};
  std::size_t used_peak_ = 0;          // bytes
  std::atomic<std::size_t> used_{0};   // got minus put back; written under the mutex
  std::atomic<std::size_t> spare_{0};  // written under the mutex
};

}  // namespace nopal::core
