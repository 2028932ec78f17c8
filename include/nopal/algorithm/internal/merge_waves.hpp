#pragma once

// Merges two adjacent sorted runs with a buffer for the shorter of them. Its elements move twice, those of the longer run once; merge_runs
// and the way back move all of them twice.
//
// The shorter run is carried to the buffer and leaves a hole as long as itself. A wave fills the whole hole, in parts at once: some of it
// comes from the buffer, the rest out of the longer run, and where that was is the next hole. It is always as long as what is left in
// the buffer. So if a comparator throws, the rest of the buffer goes into the hole, and every element is in the range. Of runs of the same
// length that mix evenly each wave leaves half as much as the wave before.
//
// Where few elements of the buffer are left, a hole is too short for many parts. Then elements of the longer run are carried into the free
// part of the buffer first, as many as it holds.
//
// The longer run is the right one if the left one is in the buffer: the merge goes forwards. Else it goes backwards, from the end of both
// runs to their begin. Either way equal elements are taken from the buffer first.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <iterator>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/native.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// A wave is cut into parts of at least so many elements, and into at most so many parts.
inline constexpr std::size_t wave_part = 4096;
inline constexpr std::size_t most_wave_parts = 256;
/// From so many elements on a wave is worth several threads.
inline constexpr std::size_t parallel_wave = std::size_t{1} << 14;
/// A part of at least so many cheap elements is two merges by turns: neither waits for what the other one compares.
inline constexpr std::size_t least_twin_merge = 64;
/// So few elements are merged one after the other, without waves.
inline constexpr std::size_t merged_in_a_row = 512;
/// From parallel_merge to so many elements all are merged into the buffer at once and carried back: waves would be short, and all workers
/// wait for each. Where a move takes longer, to save some is worth more.
template <class T>
inline constexpr std::size_t least_waves = is_cheap<T> ? std::size_t{1} << 21 : std::size_t{1} << 18;
/// The last wave merges all if that is less than this part of all elements, and the buffer has room for them.
inline constexpr std::size_t last_wave = 16;
/// A hole is short if it is less than this part of what is to be merged.
inline constexpr std::size_t short_hole = 8;
/// Kept elements are few if they are less than this part: each is compared with some of the others only.
inline constexpr std::size_t few_kept = 16;

/// How many elements the buffer of merge_in_waves holds for runs of these lengths.
template <class T>
std::size_t room_for_waves(std::size_t left_n, std::size_t right_n) {
  const std::size_t n = left_n + right_n;
  const std::size_t shorter = std::min(left_n, right_n);
  if (n < parallel_merge) return shorter;
  return n < least_waves<T> ? n : std::max(shorter, n / 4);
}

/// A merge in waves. A run is told by where it begins and its length; `Backwards`, by its end.
template <class I, class Less, bool Backwards>
class merge_waves {
  using T = std::iter_value_t<I>;
  static_assert(is_relocatable<I>);

 public:
  /// The kept run lies in the range from `to` on, the staying one behind it. `room` is for `capacity` elements, at least kept_n.
  merge_waves(I to, std::size_t kept_n, std::size_t staying_n, T* room, std::size_t capacity, const Less& is_less)
      : to_{to},
        first_kept_n_{kept_n},
        staying_{past(to, kept_n)},
        staying_n_{staying_n},
        room_{room},
        capacity_{capacity},
        less_{is_less} {}
  /// If a comparison threw, the rest of the kept run goes into the hole.
  ~merge_waves() { algorithms::carry(low_end(kept_, kept_n_), low_end(to_, kept_n_), kept_n_); }
  merge_waves(const merge_waves&) = delete;
  merge_waves& operator=(const merge_waves&) = delete;

  void merge() {
    const std::size_t all = first_kept_n_ + staying_n_;
    if (capacity_ >= all) return merge_at_once(all);
    kept_ = room_ + (Backwards ? first_kept_n_ : capacity_ - first_kept_n_);
    algorithms::carry_in_parts(low_end(to_, first_kept_n_), low_end(kept_, first_kept_n_), first_kept_n_);
    kept_n_ = first_kept_n_;
    while (kept_n_ > 0 && staying_n_ > 0) {
      const std::size_t n = kept_n_ + staying_n_;
      if (n < merged_in_a_row || (n < parallel_merge && kept_n_ < n / few_kept)) return merge_the_rest();
      if (n >= parallel_merge && (kept_n_ < n / short_hole || (n < all / last_wave && staying_n_ <= capacity_ - kept_n_))) {
        wave_from_buffer();
      } else {
        wave();
      }
    }
    const std::size_t n = std::exchange(kept_n_, 0);
    algorithms::carry_in_parts(low_end(kept_, n), low_end(to_, n), n);
  }

 private:
  /// The i-th element of a run, the place behind n elements of it, and the lower end of n elements of it.
  template <class It>
  NOPAL_INLINE static It at(const It& run, std::size_t i) {
    return Backwards ? algorithms::behind(run, i + 1) : algorithms::ahead(run, i);
  }
  template <class It>
  NOPAL_INLINE static It past(const It& run, std::size_t n) {
    return Backwards ? algorithms::behind(run, n) : algorithms::ahead(run, n);
  }
  template <class It>
  static It low_end(const It& run, std::size_t n) {
    return Backwards ? algorithms::behind(run, n) : run;
  }
  /// Does an element of the staying run come before one of the kept run?
  template <class S, class K>
  NOPAL_INLINE static bool stays_first(const Less& less, const S& staying, const K& kept) {
    if constexpr (Backwards) {
      return less(*kept, *staying);
    } else {
      return less(*staying, *kept);
    }
  }

  template <class It>
  static std::size_t length(const It& run, const It& end) {
    return static_cast<std::size_t>(Backwards ? run - end : end - run);
  }

  /// A merge on one thread. Its destructor moves the rest of the kept run, and that of the staying one unless it ends in place.
  template <class K, class S, class To>
  struct part_merge {
    K kept;
    K kept_end;
    S staying;
    S staying_end;
    To to;
    const Less& less;
    bool ends_in_place = false;

    NOPAL_INLINE ~part_merge() {
      move(kept, kept_end);
      if (!ends_in_place) move(staying, staying_end);
    }

    /// Returns a number of steps that cannot exhaust a run; 0 if one is exhausted.
    [[nodiscard]] std::size_t steps() const { return std::min(length(kept, kept_end), length(staying, staying_end)); }
    NOPAL_INLINE void step() {
      const bool stays = stays_first(less, at(staying, 0), at(kept, 0));
      if constexpr (is_cheap<T> && std::is_pointer_v<I>) {
        algorithms::relocate_copy(stays ? *at(staying, 0) : *at(kept, 0), at(to, 0));
        staying = past(staying, stays ? 1 : 0);
        kept = past(kept, stays ? 0 : 1);
      } else if (stays) {
        algorithms::relocate(at(staying, 0), at(to, 0));
        staying = past(staying, 1);
      } else {
        algorithms::relocate(at(kept, 0), at(to, 0));
        kept = past(kept, 1);
      }
      to = past(to, 1);
    }
    NOPAL_INLINE void merge() {
      while (std::size_t some = steps()) {
        do step();
        while (--some != 0);
      }
    }
    /// Merges few kept elements. Finds the place of each by longer and longer strides.
    void merge_few() {
      while (kept != kept_end) {
        const std::size_t most = length(staying, staying_end);
        std::size_t n = 0;
        std::size_t stride = 1;
        for (; stride <= most - n && stays_first(less, at(staying, n + stride - 1), at(kept, 0)); stride *= 2) n += stride;
        const S rest = past(staying, n);
        n += algorithms::bound(std::min(stride - 1, most - n), [&](std::size_t i) { return stays_first(less, at(rest, i), at(kept, 0)); });
        for (; n > 0; --n) {
          algorithms::relocate(at(staying, 0), at(to, 0));
          staying = past(staying, 1);
          to = past(to, 1);
        }
        algorithms::relocate(at(kept, 0), at(to, 0));
        kept = past(kept, 1);
        to = past(to, 1);
      }
    }
    /// Merges both, a step of each by turns.
    NOPAL_INLINE void merge_with(part_merge& other) {
      while (std::size_t some = std::min(steps(), other.steps())) {
        do {
          step();
          other.step();
        } while (--some != 0);
      }
      merge();
      other.merge();
    }
    /// Leaves the first `kept_n` and `staying_n` elements here, and returns a merge of the rest.
    NOPAL_INLINE part_merge cut(std::size_t kept_n, std::size_t staying_n) {
      const K kept_last = std::exchange(kept_end, past(kept, kept_n));
      const S staying_last = std::exchange(staying_end, past(staying, staying_n));
      return {kept_end, kept_last, staying_end, staying_last, past(to, kept_n + staying_n), less};
    }

   private:
    template <class Run>
    NOPAL_INLINE void move(const Run& run, const Run& end) noexcept {
      const std::size_t n = length(run, end);
      algorithms::carry(low_end(run, n), low_end(to, n), n);
      to = past(to, n);
    }
  };

  /// Returns how many of the first k elements of a merge come from the kept run. O(log k) comparisons.
  template <class K, class S>
  std::size_t kept_of_first(std::size_t k, const K& kept, std::size_t kept_n, const S& staying, std::size_t staying_n) const {
    std::size_t low = k > staying_n ? k - staying_n : 0;
    std::size_t high = std::min(k, kept_n);
    while (low < high) {
      const std::size_t i = low + (high - low) / 2;
      if (stays_first(less_, at(staying, k - i - 1), at(kept, i))) {
        high = i;
      } else {
        low = i + 1;
      }
    }
    return low;
  }

  /// What the parts of a wave have thrown.
  struct failures {
    std::array<std::exception_ptr, most_wave_parts> thrown{};
    std::atomic<std::size_t> first{most_wave_parts};

    // Relaxed, as all here: a hint to later parts. The join of the parts orders the load at the end.
    [[nodiscard]] bool before(std::size_t part) const { return first.load(std::memory_order::relaxed) < part; }
    void note(std::size_t part) {
      thrown[part] = core::caught();
      // Relaxed, as the exchange: a hint to later parts, see above.
      std::size_t earliest = first.load(std::memory_order::relaxed);
      while (part < earliest && !first.compare_exchange_weak(earliest, part, std::memory_order::relaxed)) {
      }
    }
    void rethrow() const {
      // Relaxed: the join of the parts orders it behind their exchanges.
      if (const std::size_t failed = first.load(std::memory_order::relaxed); failed < most_wave_parts)
        std::rethrow_exception(thrown[failed]);
    }
  };

  /// Fills a hole with the merge of two runs. If it throws, the hole is full too.
  template <class K, class S, class To>
  void fill(const K& kept, std::size_t kept_n, const S& staying, std::size_t staying_n, const To& hole) const {
    const std::size_t n = kept_n + staying_n;
    part_merge<K, S, To> all{kept, past(kept, kept_n), staying, past(staying, staying_n), hole, less_};
    if (n < parallel_wave) return merge_part(all);
    failures failed;
    merge_parts(all, 0, std::min(n / wave_part, most_wave_parts), failed);
    failed.rethrow();
  }
  template <class K, class S, class To>
  void merge_parts(part_merge<K, S, To>& all, std::size_t first_part, std::size_t last_part, failures& failed) const noexcept {
    try {
      if (failed.before(first_part)) return;
      if (last_part - first_part == 1) return merge_part(all);
      const std::size_t kept_n = length(all.kept, all.kept_end);
      const std::size_t staying_n = length(all.staying, all.staying_end);
      const std::size_t parts = last_part - first_part;
      const std::size_t left = algorithms::begin_of_part(parts / 2, parts, kept_n + staying_n);
      const std::size_t of_kept = kept_of_first(left, all.kept, kept_n, all.staying, staying_n);
      part_merge<K, S, To> rest = all.cut(of_kept, left - of_kept);
      nopal::parallel_invoke([&, this] { merge_parts(all, first_part, first_part + parts / 2, failed); },
                             [&, this] { merge_parts(rest, first_part + parts / 2, last_part, failed); });
    } catch (...) {
      failed.note(first_part);
    }
  }
  /// Works on objects of its own, which the compiler keeps in registers.
  template <class K, class S, class To>
  void merge_part(part_merge<K, S, To>& all) const {
    const std::size_t kept_n = length(all.kept, all.kept_end);
    const std::size_t n = kept_n + length(all.staying, all.staying_end);
    if (kept_n < n / few_kept) return all.merge_few();
    if constexpr (is_cheap<T> && std::is_pointer_v<I>) {
      if (n >= least_twin_merge) {
        const std::size_t of_kept = kept_of_first(n / 2, all.kept, kept_n, all.staying, n - kept_n);
        part_merge<K, S, To> rest = all.cut(of_kept, n / 2 - of_kept);
        part_merge<K, S, To> one = all.cut(0, 0);
        return one.merge_with(rest);
      }
    }
    part_merge<K, S, To> one = all.cut(0, 0);
    one.merge();
  }

  /// Fills the hole from both runs.
  void wave() {
    const std::size_t of_kept = kept_of_first(kept_n_, kept_, kept_n_, staying_, staying_n_);
    const std::size_t of_staying = kept_n_ - of_kept;
    const I hole = std::exchange(to_, past(to_, kept_n_));
    const I staying = std::exchange(staying_, past(staying_, of_staying));
    staying_n_ -= of_staying;
    fill(take_kept(of_kept), of_kept, staying, of_staying, hole);
  }
  /// Carries elements of the staying run to the free part of the buffer, so that the hole grows by as many. Merges them with what comes
  /// before the last of them.
  void wave_from_buffer() {
    const std::size_t n = std::min(capacity_ - kept_n_, staying_n_);
    const I last = at(staying_, n - 1);
    const std::size_t of_kept = algorithms::bound(kept_n_, [&](std::size_t i) { return !stays_first(less_, last, at(kept_, i)); });
    T* const carried = Backwards ? room_ + kept_n_ : room_;
    algorithms::carry_in_parts(low_end(staying_, n), carried, n);
    staying_ = past(staying_, n);
    staying_n_ -= n;
    const I hole = std::exchange(to_, past(to_, of_kept + n));
    fill(take_kept(of_kept), of_kept, Backwards ? carried + n : carried, n, hole);
  }
  void merge_at_once(std::size_t n) {
    const I low = low_end(to_, n);
    try {
      fill(to_, first_kept_n_, staying_, staying_n_, Backwards ? room_ + n : room_);
    } catch (...) {
      algorithms::carry(room_, low, n);
      throw;
    }
    algorithms::carry_in_parts(room_, low, n);
  }
  void merge_the_rest() {
    const std::size_t n = std::exchange(kept_n_, 0);
    part_merge<T*, I, I> rest{kept_, past(kept_, n), staying_, past(staying_, staying_n_), to_, less_, true};
    if (n < (n + staying_n_) / few_kept) return rest.merge_few();
    rest.merge();
  }
  T* take_kept(std::size_t n) {
    kept_n_ -= n;
    return std::exchange(kept_, past(kept_, n));
  }

  I to_;
  std::size_t first_kept_n_;
  T* kept_ = nullptr;
  std::size_t kept_n_ = 0;
  I staying_;
  std::size_t staying_n_;
  T* room_;
  std::size_t capacity_;
  const Less& less_;
};

/// Merges [first, first + half) and [first + half, first + n), neither of which is empty, stably. `room` is for `capacity` elements, at
/// least as many as the shorter run has; if it is for all, they are merged at once. If it throws, all elements are in the range; the
/// exception is that of the first part of a wave that threw. Called by a worker if n is at least parallel_wave. O(n) work;
/// O(n / most_wave_parts + log² n) span with room_for_waves.
template <class I, class Less>
void merge_in_waves(I first, std::size_t half, std::size_t n, std::iter_value_t<I>* room, std::size_t capacity, const Less& less) {
  if (half <= n - half) {
    merge_waves<I, Less, false>{first, half, n - half, room, capacity, less}.merge();
  } else {
    merge_waves<I, Less, true>{algorithms::ahead(first, n), n - half, half, room, capacity, less}.merge();
  }
}

}  // namespace nopal::core::algorithms
