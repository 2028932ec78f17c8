#pragma once

// when_all: waits for all of several futures. after.hpp: what begins after all of them, without a wait. Next: when_any.hpp, the first of several.

#include "nopal/core/compiler/config.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include "nopal/core/wait/completion.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/when_any.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

/// Waits until all `n` are set, or until `deadline`. False: that passed first. Throws nopal::stopped, std::bad_alloc, std::system_error.
NOPAL_API bool all_set(completion* const* all, std::size_t n, time_point deadline);

}  // namespace core

/// What when_all returns, once all futures are ready.
class all_ready {
 public:
  /// Throws what the first failed future will throw from its own get(), in the order in which they were given.
  void get() const {
    if (failed_ != nullptr) std::rethrow_exception(failed_);
  }

 private:
  template <any_future... F>
    requires(sizeof...(F) != 0)
  friend all_ready when_all(F const&... f);
  template <range_of_futures F>
  friend all_ready when_all(F const& futures);
  void add(std::exception_ptr e) noexcept {
    if (failed_ == nullptr) failed_ = std::move(e);
  }
  std::exception_ptr failed_;
};

/// Waits until all of the futures are ready. Changes none: take the results by get(), also of those that have failed. O(futures).
///
///     nopal::when_all(a, b).get();      // throws what the first of them has thrown
///     use(a.get(), b.get());
///
/// Suspends: the fiber, task or function leaves its native stack, and the worker runs others; a thread that works for no pool sleeps.
/// Throws nopal::stopped if the caller is asked to stop (stop.hpp), std::logic_error if a future is empty, std::bad_alloc.
template <any_future... F>
  requires(sizeof...(F) != 0)
all_ready when_all(F const&... f) {
  std::array<core::completion*, sizeof...(F)> const all{&core::future_access::of(f, "when_all")...};
  static_cast<void>(core::all_set(all.data(), all.size(), core::time_point::max()));
  all_ready r;
  (r.add(core::future_access::thrown(f)), ...);
  return r;
}
/// As above, for a range of futures, which may be empty.
template <range_of_futures F>
all_ready when_all(F const& futures) {
  std::vector<core::completion*> all;
  for (auto const& f : futures) all.push_back(&core::future_access::of(f, "when_all"));
  static_cast<void>(core::all_set(all.data(), all.size(), core::time_point::max()));
  all_ready r;
  for (auto const& f : futures) r.add(core::future_access::thrown(f));
  return r;
}
/// As when_all, for at most `timeout`. False: that passed first. Also throws std::system_error if the thread that serves time limits cannot
/// be started.
template <class Rep, class Period, any_future... F>
  requires(sizeof...(F) != 0)
bool when_all_for(std::chrono::duration<Rep, Period> timeout, F const&... f) {
  std::array<core::completion*, sizeof...(F)> const all{&core::future_access::of(f, "when_all_for")...};
  return core::all_set(all.data(), all.size(), core::deadline_after(timeout));
}
/// As above, for a range of futures.
template <class Rep, class Period, range_of_futures F>
bool when_all_for(std::chrono::duration<Rep, Period> timeout, F const& futures) {
  std::vector<core::completion*> all;
  for (auto const& f : futures) all.push_back(&core::future_access::of(f, "when_all_for"));
  return core::all_set(all.data(), all.size(), core::deadline_after(timeout));
}

}  // namespace nopal
