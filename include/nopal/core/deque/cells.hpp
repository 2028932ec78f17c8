#pragma once

// The array behind a deque, allocated and freed by the deque's owner, read by thieves. Its cells cost no memory before they are used. Next:
// deque.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>

#include "nopal/core/base/pages.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// `bytes` zeros in fresh pages, with a page behind them in which every access is a fault. Null without memory.
NOPAL_COLD void* map_guarded(std::size_t bytes) noexcept;
/// Gives back what map_guarded(bytes) gave.
NOPAL_COLD void unmap_guarded(void* memory, std::size_t bytes) noexcept;
/// True if `address` is in the guard page behind the memory from map_guarded that ends at `end`.
bool is_guarded_end(void const* end, void const* address) noexcept;

/// A power of two of words, all zero. Guarded: an access behind the last word is a fault that stack_overflow.hpp reports.
template <class Cell, bool Guarded>
class cells {
 public:
  using index = std::int64_t;

  /// `capacity` is a power of two. Throws std::bad_alloc.
  explicit cells(index capacity) : mask{capacity - 1}, first_{get(static_cast<std::size_t>(capacity))} {}
  cells(cells const&) = delete;
  cells& operator=(cells const&) = delete;
  ~cells() {
    if constexpr (Guarded) {
      unmap_guarded(first_, static_cast<std::size_t>(mask + 1) * sizeof(Cell));
    } else {
      std::free(first_);
    }
  }

  /// Gives the cells' pages back to the system. By the deque's owner, while the deque is empty. A thief may still read a cell, but its
  /// exchange fails whatever it reads.
  void discard() const noexcept { discard_inside(first_, static_cast<std::size_t>(mask + 1) * sizeof(Cell)); }

  /// Bytes of the cells that are in memory; the count stops above `enough`. There may be as many guarded cells as forks fit on a stack of 1
  /// TiB. They are used from the first on, so the count looks at the first 2 * `enough` bytes only.
  std::size_t resident(std::size_t enough) const noexcept {
    std::size_t const all = static_cast<std::size_t>(mask + 1) * sizeof(Cell);
    return resident_inside(first_, Guarded ? std::min(all, 2 * enough) : all, enough);
  }

  Cell* first() const noexcept { return first_; }
  Cell* end() const noexcept { return first_ + mask + 1; }
  Cell& at(index i) const noexcept { return first_[i]; }

  index const mask;

 private:
  // An atomic word of zeros is a valid cell.
  static Cell* get(std::size_t n) {
    static_assert(std::is_trivially_destructible_v<Cell> && sizeof(Cell) == sizeof(std::uintptr_t));
    void* const p = Guarded ? map_guarded(n * sizeof(Cell)) : std::calloc(n, sizeof(Cell));
    if (p == nullptr) throw std::bad_alloc{};
    return static_cast<Cell*>(p);
  }

  Cell* const first_;
};

}  // namespace nopal::core
