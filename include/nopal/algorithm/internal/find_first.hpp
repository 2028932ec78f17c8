#pragma once

// The search that find_if, any_of and their like share.

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <type_traits>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/parallel_for_blocks.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/spin_lock.hpp"
#include "nopal/core/loop/between_blocks.hpp"
#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// How many elements are looked at between two looks at what others have found; numbers in a row take less time.
inline constexpr std::size_t search_stride = 512;
inline constexpr std::size_t long_search_stride = 4096;

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

/// Goes from `at` to the first place before `end` for which holds(place), and says whether there is one; where that throws `at` is the place. What
/// holds has a first_of(at, end) of its own, it may look at many places at once.
template <class Holds>
NOPAL_INLINE bool first_of(const Holds& holds, std::size_t& at, std::size_t end) {
  if constexpr (requires { holds.first_of(at, end); }) {
    return holds.first_of(at, end);
  } else {
#pragma GCC unroll 4
    for (; at != end; ++at) {
      if (holds(at)) return true;
    }
    return false;
  }
}

/// Elements that can be read without anybody taking notice: numbers and pointers that lie in a row, be it backwards.
template <class I>
inline constexpr bool reads_plainly = std::contiguous_iterator<I> && std::is_scalar_v<std::iter_value_t<I>> &&
                                      !std::is_volatile_v<std::remove_reference_t<std::iter_reference_t<I>>>;
template <class I>
inline constexpr bool reads_plainly<std::reverse_iterator<I>> = reads_plainly<I>;

/// Are two such elements compared by the language's own operator?
template <class Pred, class Proj1, class Proj2, class I1, class I2>
inline constexpr bool compares_in_rows = (equals_plainly<Pred> || compares_plainly<Pred>) && std::same_as<Proj1, std::identity> &&
                                         std::same_as<Proj2, std::identity> && reads_plainly<I1> && reads_plainly<I2>;

/// holds(place), which does not hold where may(place) does not. With `Plainly` nobody takes notice of calls of may: so rows of places are looked at
/// without a branch between them, as vectors do; by may.any<places>(place) if there is one.
template <bool Plainly, class May, class Holds>
struct in_rows {
  static constexpr std::size_t stride = Plainly ? long_search_stride : search_stride;
  May may;
  Holds holds;

  NOPAL_INLINE bool operator()(std::size_t i) const { return may(i) && holds(i); }
  bool first_of(std::size_t& at, std::size_t end) const
    requires Plainly
  {
    constexpr std::size_t row = 64;
    const May may_here = may;  // where nothing that a call writes can change it
    while (at != end) {
      const std::size_t stop = end - at > row ? at + row : end;
      unsigned any = 0;
      if (stop - at != row) {
        any = 1;
      } else if constexpr (requires { may_here.template any<row>(at); }) {
        any = may_here.template any<row>(at) ? 1 : 0;
      } else {
        for (std::size_t i = 0; i != row; ++i) any |= may_here(at + i) ? 1U : 0U;
      }
      if (any == 0) {
        at = stop;
        continue;
      }
      for (; at != stop; ++at) {
        if ((*this)(at)) return true;
      }
    }
    return false;
  }
};
struct always {
  bool operator()(std::size_t) const { return true; }
};
template <bool Plainly, class May, class Holds = always>
in_rows<Plainly, May, Holds> look_in_rows(May may, Holds holds = {}) {
  return {may, holds};
}

/// What holds may say how many elements are looked at instead.
template <class Holds>
inline constexpr std::size_t stride_of = search_stride;
template <class Holds>
  requires(Holds::stride > 0)
inline constexpr std::size_t stride_of<Holds> = Holds::stride;

/// The least i of [from, n) for which holds(i), or n. What lies behind a place that was found is not begun any more. An exception counts only where a
/// serial search would have come to it: not behind the place that is found.
template <class Holds>
std::size_t find_first(std::size_t from, std::size_t n, const Holds& holds) {
  std::atomic<std::size_t> found{n};
  first_thrown thrown{n};
  try {
    nopal::parallel_for_blocks(from, n, [&](std::size_t first, std::size_t last) {
      while (first < last) {
        // Relaxed: a hint. What it misses is looked at in vain.
        if (found.load(std::memory_order::relaxed) < first) return;
        const std::size_t end = std::min(last, first + stride_of<Holds>);
        try {
          if (algorithms::first_of(holds, first, end)) return algorithms::lower(found, first);
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

/// Where a search has ended: at a place, or behind so many elements.
struct search_result {
  std::size_t place;
  bool found;
};

/// Where the length is not known a block of 64 elements is searched, then blocks of as many as all before: what is looked at in vain is no more
/// than what must be.
inline std::size_t next_search(std::size_t from) noexcept { return std::max<std::size_t>(from, 64); }

/// Among n elements, in such blocks.
template <class Holds>
search_result search_growing(std::size_t n, const Holds& holds) {
  for (std::size_t from = 0; from != n;) {
    const std::size_t to = from + std::min(n - from, algorithms::next_search(from));
    const std::size_t place = algorithms::find_first(from, to, holds);
    if (place != to) return {place, true};
    from = to;
  }
  return {n, false};
}
/// From so many elements on, which are numbers and no memory, this is the search of a range with an end too: a loop over all would still go through
/// those behind the place that is found, some 10^10 at a time.
inline constexpr std::uint64_t huge_search = std::uint64_t{1} << 36;

/// Among n elements.
template <class Holds>
search_result search_sized(std::size_t n, const Holds& holds) {
  if (n >= huge_search) return algorithms::search_growing(n, holds);
  const std::size_t place = algorithms::find_first(0, n, holds);
  return {place, place != n};
}

/// In an endless range, of whose elements `left` may be looked at.
template <class Holds>
search_result search_endless(std::size_t left, const Holds& holds) {
  const search_result hit = algorithms::search_growing(left, holds);
  if (hit.found) return hit;
  throw std::out_of_range{
      "nopal: a search has come to the last number of its range's type and found nothing, and the range has no end. Give it one: "
      "std::views::iota(first, last)"};
}

/// In a range whose end the caller does not know, only that something will be found: nothing behind that may be touched.
template <class Holds>
search_result search_one_by_one(const Holds& holds) {
  for (std::size_t place = 0;; ++place) {
    if (place % search_stride == 0) {
      let_due_run_between_blocks();
      throw_if_stopped();
    }
    if (holds(place)) return {place, true};
  }
}

/// In a range whose end is found by a walk, block by block: the walk ends with the search.
template <class I, class S, class Holds>
search_result search_walking(I it, const S& last, const Holds& holds) {
  std::size_t to = 0;
  bool at_end = false;
  std::exception_ptr thrown;  // by the walk: a serial search comes to it behind all that the walk has passed
  while (!at_end && thrown == nullptr) {
    const std::size_t from = to;
    const std::size_t size = algorithms::next_search(from);
    try {
      for (; to - from != size && !(at_end = static_cast<bool>(it == last)); ++to) ++it;
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::size_t place = algorithms::find_first(from, to, holds);
    if (place != to) return {place, true};
  }
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return {to, false};
}

/// The least i for which holds(i), of the places in [first, last): what a serial search would have found, and the exception that it would have
/// met first.
template <class I, class S, class Holds>
search_result search(const I& first, const S& last, const Holds& holds) {
  if constexpr (std::same_as<S, endless> || (never_reached<S> && counts<I>)) {
    return algorithms::search_endless(algorithms::left_ahead(first), holds);
  } else if constexpr (never_reached<S>) {
    return algorithms::search_one_by_one(holds);
  } else if constexpr (is_sized<I, S>) {
    return algorithms::search_sized(algorithms::length(first, last), holds);
  } else {
    return algorithms::search_walking(first, last, holds);
  }
}

}  // namespace nopal::core::algorithms
