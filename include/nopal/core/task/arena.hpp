#pragma once

// One segment of the segmented stack of task frames. Only its arena, and the worker that has the arena, may touch it. Below: the list of
// free ones, and the arena.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

class used_bytes;

/// The head of one segment; its bytes follow.
struct alignas(64) stacklet {
  stacklet* below;         ///< the segment under this one; null in the first
  used_bytes* counted_in;  ///< counts it while an arena has it: that of the list that it was got from
  std::byte* top;          ///< first free byte, while no worker has the arena
  std::size_t size;        ///< bytes of the whole block, a power of two
  std::uint64_t epoch;     ///< the arena's epoch, while no worker has it
  std::uintptr_t alarm;    ///< the worker's alarm before this segment was added: grow_arena in slow_path.hpp
  std::int64_t floor;      ///< the deque's bottom when this segment was added: no pop makes an older entry private again, see worker::floor
  bool was_elsewhere;      ///< it was put back into another list than it was got from: it stays mapped until the last list ends

  std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  std::byte* end() noexcept { return reinterpret_cast<std::byte*>(this) + size; }
};

// The central free list of segments: what the arenas of one pool give back. Any worker of the pool may call, under the list's lock. Next:
// the arena, which takes them.

/// Bytes of the segments that arenas have from one list. They may be put back elsewhere, after the list has ended: it lives until then.
class used_bytes {
 public:
  // relaxed, both: they order nothing.
  std::size_t now() const noexcept { return word_.load(std::memory_order_relaxed) & ~open; }
  /// Returns the new sum.
  std::size_t add(std::size_t bytes) noexcept { return (word_.fetch_add(bytes, std::memory_order_relaxed) + bytes) & ~open; }
  /// So many are back. This may be gone then.
  void subtract(std::size_t bytes) noexcept { drop(bytes); }
  /// The list ends. This may be gone then.
  void close() noexcept { drop(open); }

 private:
  static constexpr std::size_t open = 1;  // the list is there; each size is even
  // acq_rel: each other, so that the last one deletes after all others
  void drop(std::size_t n) noexcept {
    if (word_.fetch_sub(n, std::memory_order_acq_rel) == n) delete this;
  }
  std::atomic<std::size_t> word_{open};
};

/// Segments of one size, linked by `below`.
struct stacklet_chain {
  stacklet* first = nullptr;
  void push(stacklet* s) noexcept;
  stacklet* pop() noexcept;  ///< null: it is empty
};

/// A fork copies the process while this thread holds the lock of the segments that no pool has. By the thread that forks.
void hold_segments_of_no_pool() noexcept;
void release_segments_of_no_pool() noexcept;

/// Bytes of the segments of one pool.
struct stacklet_counts {
  std::uint64_t used;       ///< of segments that arenas have now from its list
  std::uint64_t used_peak;  ///< the most at any time
  std::uint64_t free;       ///< of segments in the list whose pages have not gone back to the system
};

/// Segments that no arena uses, by size. They stay mapped as long as the pool, since a compiler may load speculatively from the frame of a
/// coroutine that another worker has just finished. But their pages go back to the system: of segments that no arena has needed for a
/// while; and at once if `used + free` would exceed `used_peak`. So the list keeps no memory of one size while the pool grows in another.
/// A task that moves to another pool takes its segments along, and they are put back there. Such a segment joins no list: it is one of no
/// pool, for the next list of the process that has none of its size. These stay mapped until the last list of the process ends.
class central_stacklet_list {
 public:
  /// Called with `with` whenever the list holds more than tuning::little_memory after a put. By any worker, without the lock.
  using much_function = void (*)(void* with) noexcept;
  /// Throws std::bad_alloc.
  explicit central_stacklet_list(much_function much = nullptr, void* with = nullptr);
  central_stacklet_list(central_stacklet_list const&) = delete;
  central_stacklet_list& operator=(central_stacklet_list const&) = delete;
  ~central_stacklet_list();

  /// A block of at least `bytes`, its head included: the next power of two. Throws std::bad_alloc.
  stacklet* get(std::size_t bytes);
  /// Takes back a block that get returned, of this list or another one.
  void put(stacklet* s) noexcept;

  /// Bytes in the list whose pages have not gone back. Any thread. relaxed: a hint.
  std::size_t spare() const noexcept { return spare_.load(std::memory_order_relaxed); }
  /// Bytes of the segments that arenas have now from this list, those of other pools too. Any thread. relaxed: it orders nothing.
  std::size_t used() const noexcept { return used_->now(); }
  /// Gives back the pages of segments that no arena has needed since the last call. By the pool's timer. O(segments in the list).
  void trim() noexcept;
  /// Any thread. Takes the mutex.
  stacklet_counts counts() const noexcept;

 private:
  static constexpr std::size_t classes = 64;  // by log2 of the size

  struct size_class {
    stacklet_chain touched, clean;     // clean: pages given back, all but the first of each
    std::size_t count = 0, least = 0;  // of the touched ones: now, and the fewest since the last trim
  };

  stacklet* take_touched(size_class& c) noexcept;
  void taken(stacklet& s) noexcept;
  void changed(std::size_t bytes) noexcept;
  stacklet_chain take_excess() noexcept;
  void discard(stacklet_chain which) noexcept;

  much_function const much_;
  void* const with_;
  mutable own_mutex mutex_;
  std::array<size_class, classes> by_size_{};
  std::size_t used_peak_ = 0;          // bytes
  used_bytes* const used_;             // added to under the mutex; other lists subtract
  std::atomic<std::size_t> spare_{0};  // written under the mutex
};

// The arena: a segmented stack of stacklets for coroutine frames, each segment twice as large as the one below (Section III-A of the
// libfork paper). Allocation is a bump, freeing is strictly last-in first-out. A frame never moves: when a parent is stolen, its arena
// stays with it, and the thief runs it on an empty one. An empty arena owns no memory: getting one is free and cannot fail. Only the worker
// that runs the strand may call; no member is safe against another thread. README.md, "Arena hand-over". Above: one segment, and the list
// of free ones. Next: promise.hpp, which allocates here.

/// The arena that the running strand allocates from. Each worker has one, for one strand after another.
class NOPAL_API arena {
 public:
  static constexpr std::size_t first_size = 32 * 1024;
  static constexpr std::size_t max_request = std::size_t{1} << 46;
  static constexpr std::size_t alignment = 16;  ///< of every allocation
  static constexpr std::size_t rounded(std::size_t n) noexcept { return (n + alignment - 1) & ~(alignment - 1); }

  constexpr arena() noexcept = default;
  arena(arena const&) = delete;
  arena& operator=(arena const&) = delete;
  ~arena();

  void use(central_stacklet_list& l) noexcept { central_list_ = &l; }

  /// Allocates `n` bytes, a multiple of `alignment`, and stores their address in `p`. False: the topmost segment has no room, and nothing
  /// was allocated. O(1).
  NOPAL_INLINE bool bump(std::size_t n, void*& p) noexcept {
    std::byte* const next = top_ + n;
    p = top_;
    if (next > end_) [[unlikely]]
      return false;
    top_ = next;
    unpoison(p, n);
    return true;
  }

  /// Allocates `n` bytes in a new segment, at least twice as large as the topmost. Throws std::bad_alloc. O(1) amortised, by Eq. (5) of the
  /// libfork paper.
  void* grow(std::size_t n);

  /// Frees `p`, the newest live allocation. If it was the only one of its segment, tidy() must come before the next allocation.
  NOPAL_INLINE void release(void* p) noexcept {
    poison(p, static_cast<std::size_t>(top_ - static_cast<std::byte*>(p)));
    top_ = static_cast<std::byte*>(p);
  }

  /// Leaves the topmost segment if it is empty, and not a first one of usual size. The arena keeps that segment for its next growth,
  /// against hot splitting, unless it is more than twice as large as the one below. Not part of release, where its branch would cost 1 to 2
  /// ns a fork: grow_arena (slow_path.hpp) makes sure that the worker that started the frame calls tidy. Returns the alarm to restore, or
  /// `keep`: the alarm stays as it is.
  std::uintptr_t tidy() noexcept;
  static constexpr std::uintptr_t keep = 1;

  /// Bytes of the segments that hold nothing.
  std::size_t spare() const noexcept {
    return (kept_ != nullptr ? kept_->size : 0) + (segment_ != nullptr && empty() && segment_->below == nullptr ? segment_->size : 0);
  }
  /// Gives those segments to the central list, but for small ones.
  void put_spare() noexcept;

  bool empty() const noexcept { return top_ == base_; }
  std::byte* top() const noexcept { return top_; }
  stacklet* segment() const noexcept { return segment_; }

  /// Takes the segments out, and leaves an empty arena. Null if the segments were empty.
  stacklet* detach() noexcept;
  /// Continues with the segments that detach returned, also on another worker. This arena must be empty.
  void attach(stacklet* s) noexcept;

  /// How often the frame whose children are at the bottom of this arena had been stolen. slow_path.cpp uses it as the epoch of a child
  /// that has thrown and lost its parent.
  std::uint64_t epoch = 0;

 private:
  void enter(stacklet* s, std::byte* top) noexcept;
  void leave_all() noexcept;
  void keep_or_return(stacklet* s) noexcept;
  void return_what_is_too_large() noexcept;
  std::size_t most_to_keep() const noexcept;
  static void poison(void* p, std::size_t n) noexcept;
  static void unpoison(void* p, std::size_t n) noexcept;

  // Bounds of an arena without segments, which is full; not null, so that adding to it is defined.
  [[gnu::visibility("hidden")]] static inline constinit std::byte nothing_[16]{};

  std::byte* top_ = nothing_;
  std::byte* end_ = nothing_;
  std::byte* base_ = nothing_;   // begin of the topmost segment
  stacklet* segment_ = nullptr;  // the topmost
  stacklet* kept_ = nullptr;     // one empty segment, for the next growth, of at most most_to_keep()
  central_stacklet_list* central_list_ = nullptr;
};

}  // namespace nopal::core

#if NOPAL_ASAN
#include <sanitizer/asan_interface.h>
NOPAL_INLINE void nopal::core::arena::poison(void* p, std::size_t n) noexcept { ASAN_POISON_MEMORY_REGION(p, n); }
NOPAL_INLINE void nopal::core::arena::unpoison(void* p, std::size_t n) noexcept { ASAN_UNPOISON_MEMORY_REGION(p, n); }
#else
NOPAL_INLINE void nopal::core::arena::poison(void*, std::size_t) noexcept {}
NOPAL_INLINE void nopal::core::arena::unpoison(void*, std::size_t) noexcept {}
#endif
