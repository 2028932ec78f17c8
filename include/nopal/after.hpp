#pragma once

// after: what must have ended before a job or a fiber begins. Next: core/scheduler/dependent.hpp, how.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "nopal/core/scheduler/dependent.hpp"
#include "nopal/counter.hpp"
#include "nopal/future.hpp"
#include "nopal/shared_future.hpp"

namespace nopal::inline NOPAL_ABI {

class graph_node;

namespace core {

struct dependency_access;

template <class T>
inline constexpr bool is_any_future = false;
template <class R>
inline constexpr bool is_any_future<future<R>> = true;
template <class R>
inline constexpr bool is_any_future<shared_future<R>> = true;

template <class T>
inline constexpr bool may_be_awaited_by_all = is_any_future<std::remove_cvref_t<T>> || std::is_same_v<T, counter&>;
template <class T>
inline constexpr bool is_range_of_futures = false;
template <std::ranges::input_range T>
inline constexpr bool is_range_of_futures<T> = is_any_future<std::remove_cvref_t<std::ranges::range_reference_t<T>>>;

/// A node of a graph, or a range of them: graph.hpp has the after() of these.
template <class T>
inline constexpr bool is_of_graph = std::same_as<std::remove_cvref_t<T>, graph_node>;
template <std::ranges::input_range T>
inline constexpr bool is_of_graph<T> = std::same_as<std::remove_cvref_t<std::ranges::range_reference_t<T>>, graph_node>;

}  // namespace core

/// What must have ended before something begins: made by after(), and given to pool::submit, pool::spawn and spawn before the function.
class [[nodiscard]] dependencies {
 public:
  /// Adds a future, a shared_future, a range of them, or a counter. Throws as after().
  template <class T>
  void add(T&& x) {
    constexpr bool known = core::may_be_awaited_by_all<T> || core::is_range_of_futures<T>;
    static_assert(known, "nopal: after takes futures, ranges of futures, and counters, which must have names.");
    if constexpr (core::is_any_future<std::remove_cvref_t<T>>) {
      auto const& result = core::future_access::shared(x, "after");
      result->is_followed.store(true, std::memory_order_relaxed);
      all_.push_back({result, nullptr});
    } else if constexpr (core::may_be_awaited_by_all<T>) {
      all_.push_back({nullptr, &core::counter_access::of(x)});
    } else if constexpr (known) {
      for (auto const& f : x) add(f);
    }
  }

 private:
  friend core::dependency_access;
  std::vector<core::predecessor> all_;
};

namespace core {
/// Takes what after() has made.
struct dependency_access {
  static std::vector<predecessor> take(dependencies& d) noexcept { return std::move(d.all_); }
};
}  // namespace core

/// All of these, in this order: futures and shared futures, whose results stay where they are; ranges of them; and counters, until they are
/// at most 0. What is given this begins when all have ended, and no thread and no stack waits until then. If one has failed, it does not
/// run, and fails with the same exception: the first of them, in this order. A counter fails by a fiber that was spawned with it, and keeps
/// the exception for wait_for; without one, its destructor no longer ends the program. A counter that is destroyed before it is at most 0
/// ends the program, as while a thread waits for it.
///
/// Throws std::logic_error for an empty future, std::bad_alloc.
///
///     auto b = pool.submit(nopal::after(a, left), [&] { return combine(a.get()); });
template <class... T>
  requires(!(core::is_of_graph<T> || ...))
dependencies after(T&&... x) {
  dependencies d;
  (d.add(static_cast<T&&>(x)), ...);
  return d;
}

}  // namespace nopal
