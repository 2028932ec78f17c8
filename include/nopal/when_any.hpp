#pragma once

// when_any: waits for the first of several futures. Next: core/wait/completion.hpp, how; select.hpp, the first of several channels and
// futures.

#include "nopal/core/compiler/config.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <type_traits>
#include <vector>

#include "nopal/after.hpp"
#include "nopal/core/wait/completion.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

/// Waits until one of the `n` is set, or until `deadline`. Returns the first that is set; nothing: `deadline` passed first. Throws
/// nopal::stopped, std::bad_alloc, std::system_error; std::invalid_argument if `n` is 0.
NOPAL_API std::optional<std::size_t> first_set(completion* const* all, std::size_t n, time_point deadline);

template <class F>
std::optional<std::size_t> first_ready(F& futures, time_point deadline) {
  std::vector<completion*> all;
  for (auto const& f : futures) all.push_back(&future_access::of(f, "when_any"));
  return first_set(all.data(), all.size(), deadline);
}

}  // namespace core

/// A future or a shared_future.
template <class F>
concept any_future = core::is_any_future<F>;
/// A range of futures, or of shared futures.
template <class F>
concept range_of_futures = std::ranges::forward_range<F> && core::is_any_future<std::remove_cv_t<std::ranges::range_value_t<F>>>;

/// Waits until one of the futures is ready, and returns its index: the first, if several are. Changes none: take the result by get(), also
/// of later ones, if they may throw (future.hpp). O(futures).
///
/// Suspends: the fiber, task or function leaves its native stack, and the worker runs others; a thread that works for no pool sleeps.
/// Throws nopal::stopped if the caller is asked to stop (stop.hpp), std::logic_error if a future is empty, std::bad_alloc.
template <any_future... F>
  requires(sizeof...(F) != 0)
std::size_t when_any(F const&... f) {
  std::array<core::completion*, sizeof...(F)> const all{&core::future_access::of(f, "when_any")...};
  return *core::first_set(all.data(), all.size(), core::time_point::max());
}
/// As above, for a range of futures. Throws std::invalid_argument if it is empty, since that would wait for ever.
template <range_of_futures F>
std::size_t when_any(F const& futures) {
  return *core::first_ready(futures, core::time_point::max());
}
/// As when_any, for at most `timeout`. Nothing: that passed first. Also throws std::system_error if the thread that serves time limits
/// cannot be started.
template <class Rep, class Period, any_future... F>
  requires(sizeof...(F) != 0)
std::optional<std::size_t> when_any_for(std::chrono::duration<Rep, Period> timeout, F const&... f) {
  std::array<core::completion*, sizeof...(F)> const all{&core::future_access::of(f, "when_any_for")...};
  return core::first_set(all.data(), all.size(), core::deadline_after(timeout));
}
/// As above, for a range of futures.
template <class Rep, class Period, range_of_futures F>
std::optional<std::size_t> when_any_for(std::chrono::duration<Rep, Period> timeout, F const& futures) {
  return core::first_ready(futures, core::deadline_after(timeout));
}

}  // namespace nopal
