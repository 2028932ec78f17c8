#pragma once

// The arena: a segmented stack of stacklets for coroutine frames, each segment twice as large as the one below (Section III-A of the
// libfork paper). Allocation is a bump, freeing is strictly last-in first-out. A frame never moves: when a parent is stolen, its arena
// stays with it, and the thief runs it on an empty one. An empty arena owns no memory: getting one is free and cannot fail. Only the worker
// that runs the strand may call; no member is safe against another thread. README.md, "Arena hand-over". Next: stacklet.hpp, one segment,
// and the list of free ones; promise.hpp, which allocates here.

#include <cstddef>
#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/task/stacklet.hpp"

namespace nopal::inline NOPAL_ABI::core {

class central_stacklet_list;

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

  /// How often the frame whose children are at the bottom of this arena had been stolen. resume_loop.cpp uses it as the epoch of a child
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
