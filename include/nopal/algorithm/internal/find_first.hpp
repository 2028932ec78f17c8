#pragma once

// The search that find_if, any_of and their like share.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/deque/spin_lock.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// How many elements are looked at between two looks at what others have found.
inline constexpr std::size_t search_stride = 512;

/// Lowers a value to `to`, if that is less.
inline void lower(std::atomic<std::size_t>& value, std::size_t to) noexcept {
  // Relaxed: places, which bring no other data with them. The join of the loop orders the last load.
  std::size_t before = value.load(std::memory_order::relaxed);
  while (to < before && !value.compare_exchange_weak(before, to, std::memory_order::relaxed)) {
  }
}

/// Of the exceptions that predicates throw, that of the lowest place.
class first_thrown {
 public:
  explicit first_thrown(std::size_t n) : place_{n} {}

  /// While an exception is handled that was thrown at a place.
  void note(std::size_t place) noexcept {
    const std::lock_guard<spin_lock> hold{lock_};
    if (place >= place_) return;
    place_ = place;
    exception_ = std::current_exception();
  }
  /// Once nobody notes any more: is the exception that is handled now the one that was noted, and was it thrown behind `place`?
  [[nodiscard]] bool is_behind(std::size_t place) const {
    return exception_ != nullptr && place < place_ && std::current_exception() == exception_;
  }

 private:
  using spin_lock = basic_spin_lock<std_sync>;
  spin_lock lock_;
  std::size_t place_;
  std::exception_ptr exception_;
};

/// The least i of [0, n) for which holds(i), or n. What lies behind a place that was found is not begun any more. An exception counts only where a serial
/// search would have come to it: not behind the place that is found.
template <class Holds>
std::size_t find_first(std::size_t n, const Holds& holds) {
  std::atomic<std::size_t> found{n};
  first_thrown thrown{n};
  try {
    algorithms::loop(n, [&](std::size_t first, std::size_t last) {
      while (first < last) {
        // Relaxed: a hint. What it misses is looked at in vain.
        if (found.load(std::memory_order::relaxed) < first) return;
        const std::size_t end = std::min(last, first + search_stride);
        try {
          for (; first != end; ++first) {
            if (holds(first)) return algorithms::lower(found, first);
          }
        } catch (...) {
          thrown.note(first);
          throw;
        }
      }
    });
  } catch (...) {
    // Relaxed: the loop has joined all that wrote. What the loop itself throws is no predicate's: then not all has been looked at.
    if (!thrown.is_behind(found.load(std::memory_order::relaxed))) throw;
  }
  return found.load(std::memory_order::relaxed);
}

}  // namespace nopal::core::algorithms
