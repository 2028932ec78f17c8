#pragma once

// Values of elements, each of which may cost nanoseconds or seconds, while using them in their order costs little: sums of a function of
// elements, the greatest of projections. While they are quick they are computed where they are used; else in parallel first, each for
// itself, into memory. They are used the same way in both cases. Called by reduction.hpp and ../../algorithm/internal/extremes.hpp.

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "nopal/algorithm/grain.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/loop/pace.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Values that are computed beforehand: numbers, so that nothing must be undone if one of them throws.
template <class V>
inline constexpr bool can_be_kept = std::is_arithmetic_v<V>;

/// The assumed cost of the values of `n` elements. Of many no more than a thousand count: each must be costly by itself, since a detour by
/// memory takes a nanosecond.
inline double cost_of_values(double ticks, std::uint64_t n) noexcept {
  return ticks * static_cast<double>(n < loop_tuning::longest_guess ? n : loop_tuning::longest_guess);
}

/// The costs of values that are computed in parallel are remembered by this type.
template <class Site>
struct values_of {};

/// Calls use(from, to, each) for parts that together are [from, to), in their order, as few as possible; each(k, f) calls f with the value
/// of element k, or with a copy that was made before. A part ends `step` elements after `from`, or a power of 8 times as many, or at `to`.
/// `Site`: costs are remembered by its type. Throws what serial execution would have thrown first.
template <class Site, class V, class Each, class Use>
NOPAL_COLD void use_slow_values(std::uint64_t from, std::uint64_t to, std::uint64_t step, Each& each, Use& use) {
  iteration_cost& cost = cost_of<Site>;
  bool const by_schedule = shares_by_schedule();
  auto const is_slow = [&](std::uint64_t k) {
    if (to - k < 2) return false;
    return by_schedule || (cost_of_values(cost.ticks(), to - k) >= loop_tuning::worth_values() && could_share());
  };
  std::uint64_t at = from;
  while (at < to && !is_slow(at)) {
    std::uint64_t const done = at - from;
    std::uint64_t const next = done == 0 ? 1 : done < step ? step : done * loop_tuning::first_part;
    std::uint64_t const end = to - from < next ? to : from + next;
    std::uint64_t const before = loop_ticks();
    use(at, end, each);
    cost.learn(loop_ticks() - before, end - at);
    at = end;
  }
  if (at == to) return;
  std::unique_ptr<V[]> const values{new (std::nothrow) V[to - at]};
  if (values == nullptr) return use(at, to, each);
  auto work_out = [&](std::uint64_t k, std::uint64_t last) {
    for (; k < last; ++k) each(at + k, [&](auto&& x) { values[k] = static_cast<V>(static_cast<decltype(x)>(x)); });
  };
  run_blocks<values_of<Site>>(to - at, grain{0}, false, work_out);
  cost.learn(cost_of<values_of<Site>>.ticks());
  auto worked_out = [&](std::uint64_t k, auto f) { return f(static_cast<V const&>(values[k - at])); };
  use(at, to, worked_out);
}

/// As use_slow_values, but directly if the elements are known to be quick, unless they are the `first` of many: those may show that this
/// has changed.
template <class Site, class V, class Each, class Use>
NOPAL_INLINE void use_values(std::uint64_t from, std::uint64_t to, std::uint64_t step, bool first, Each& each, Use& use) {
  double const known = cost_of<Site>.ticks();
  if (!first && known > 0 && cost_of_values(known, to - from) < loop_tuning::worth_values()) [[likely]]
    return use(from, to, each);
  use_slow_values<Site, V>(from, to, step, each, use);
}

}  // namespace nopal::core
