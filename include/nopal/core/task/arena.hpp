#pragma once

// The arena: a geometric segmented stack of stacklets for coroutine frames (the paper's Section III-A). Allocation is a
// bump, freeing is strictly last-in first-out. A frame never moves; when a parent is stolen, its arena stays with it and the
// thief goes on with an empty one. An empty arena owns no memory: it costs nothing and can be had without failing.

#include <cstddef>
#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/task/stacklet.hpp"

namespace nopal::core {

class central_stacklet_list;

/// The arena that the running strand allocates from. Each worker has one; strands come and go in it.
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

  /// `n` bytes, which are rounded, in `p`. False if the topmost segment has no room.
  NOPAL_INLINE bool bump(std::size_t n, void*& p) noexcept {
    std::byte* const next = top_ + n;
    p = top_;
    if (next > end_) [[unlikely]] return false;
    top_ = next;
    unpoison(p, n);
    return true;
  }

  /// As bump, in a new segment twice as large as the topmost. Throws std::bad_alloc. O(1) amortised, Eq. (5).
  void* grow(std::size_t n);

  /// `p` is the newest live allocation. It may have been the only one of its segment: tidy() before the next allocation.
  NOPAL_INLINE void release(void* p) noexcept {
    poison(p, static_cast<std::size_t>(top_ - static_cast<std::byte*>(p)));
    top_ = static_cast<std::byte*>(p);
  }

  /// Leaves the topmost segment if it is empty and not the first; it is kept, against hot splitting. Not part of release, where
  /// its branch would cost 1 to 2 ns a fork: fork_state::grow arranges that whoever started the frame comes by. Returns the
  /// alarm to restore, or `keep`.
  std::uintptr_t tidy() noexcept;
  static constexpr std::uintptr_t keep = 1;

  bool empty() const noexcept { return top_ == base_; }
  std::byte* top() const noexcept { return top_; }
  stacklet* segment() const noexcept { return segment_; }

  /// Takes the segments out (null if they are empty) and leaves an empty arena.
  stacklet* detach() noexcept;
  /// Goes on with what detach gave. This arena must be empty.
  void attach(stacklet* s) noexcept;

  /// How often the frame whose children lie at the bottom of this arena had been stolen: worker::arrive takes it for
  /// the epoch of a child that has thrown.
  std::uint64_t epoch = 0;

 private:
  void enter(stacklet* s, std::byte* top) noexcept;
  void keep_or_return(stacklet* s) noexcept;
  static void poison(void* p, std::size_t n) noexcept;
  static void unpoison(void* p, std::size_t n) noexcept;

  // Where an arena without segments is full; not null, so that adding to it is defined.
  [[gnu::visibility("hidden")]] static inline constinit std::byte nothing_[16]{};

  std::byte* top_ = nothing_;
  std::byte* end_ = nothing_;
  std::byte* base_ = nothing_;     // where the topmost segment begins
  stacklet* segment_ = nullptr;    // the topmost
  stacklet* kept_ = nullptr;       // one empty segment
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
