#pragma once

// pipeline: items go through stages, several at once. Next: core/pipeline/typed_flow.hpp, the path of an item.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "nopal/core/pipeline/flow.hpp"
#include "nopal/core/pipeline/typed_flow.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/pool.hpp"

namespace nopal::inline NOPAL_ABI {

template <class T>
class popped;

namespace core {

/// An integer that counts something: no truth value, no character.
template <class I>
inline constexpr bool is_number = !std::is_same_v<I, bool> && !std::is_same_v<I, char> && !std::is_same_v<I, wchar_t> &&
                                  !std::is_same_v<I, char8_t> && !std::is_same_v<I, char16_t> && !std::is_same_v<I, char32_t>;

}  // namespace core

/// How many items are in a pipeline at once, at most: at least 1.
struct tokens {
  long long items;
  template <std::integral I>
    requires core::is_number<I>
  constexpr explicit tokens(I n) noexcept
      : items{std::in_range<long long>(n) ? static_cast<long long>(n) : std::numeric_limits<long long>::max()} {}
};

/// The kinds of stages. Each keeps its function by value; write std::ref(f) for one that stays where it is.
namespace stage {

/// Takes one item at a time, in the order in which the source has returned them.
template <class F>
struct serial_in_order {
  static constexpr core::passage passage = core::passage::in_order;
  F function;
};
/// Takes one item at a time, in any order.
template <class F>
struct serial {
  static constexpr core::passage passage = core::passage::serial;
  F function;
};
/// Takes any number of items at once: its function is called on several threads.
template <class F>
struct parallel {
  static constexpr core::passage passage = core::passage::parallel;
  F function;
};

template <class F>
serial_in_order(F) -> serial_in_order<F>;
template <class F>
serial(F) -> serial<F>;
template <class F>
parallel(F) -> parallel<F>;

}  // namespace stage

namespace core {

template <class T>
inline constexpr bool is_stage = false;
template <class F>
inline constexpr bool is_stage<stage::serial_in_order<F>> = true;
template <class F>
inline constexpr bool is_stage<stage::serial<F>> = true;
template <class F>
inline constexpr bool is_stage<stage::parallel<F>> = true;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_optional<popped<T>> = true;  // of a source that returns channel.pop()

/// True if a pipeline takes this source. If not, says what to write instead.
template <class Source>
consteval bool may_be_source() {
  if constexpr (!std::is_invocable_v<Source&> && std::is_invocable_v<std::remove_const_t<Source>&>) {
    static_assert(
        !std::is_const_v<Source>,
        "nopal: the source of this pipeline is const, and its call changes it, as that of a mutable lambda does. Leave out the const.");
    return false;
  } else if constexpr (!std::is_invocable_v<Source&>) {
    static_assert(std::is_invocable_v<Source&>, "nopal: the source of a pipeline is called without arguments, again and again.");
    return false;
  } else {
    using result = std::invoke_result_t<Source&>;
    using items = std::remove_cvref_t<result>;
    static_assert(is_optional<items>,
                  "nopal: the source of a pipeline returns a std::optional: the next item, or std::nullopt at the end.");
    if constexpr (is_optional<items>) {
      constexpr bool kept = !std::is_reference_v<result> || std::is_constructible_v<items, result>;
      static_assert(
          kept,
          "nopal: the source of this pipeline returns a reference to a std::optional that cannot be copied, and the first stage would "
          "be called with a copy. Return the std::optional by value.");
      return kept;
    }
    return false;
  }
}

/// True if a stage takes what the one before it returns, or what is in the source's std::optional, and returns what another one can take.
/// Number: 1 is the first. If not, says what to write instead.
template <std::size_t Number, class Stage, class Given, bool IsLast>
consteval bool may_be_stage() {
  using f = function_of<Stage>;
  if constexpr (!std::is_invocable_v<f&, Given>) {
    static_assert(std::is_invocable_v<f&, Given>,
                  "nopal: a stage of this pipeline cannot be called with what the stage before it returns (the first: with what is in the "
                  "source's std::optional), given as a temporary. Number, Stage and Given say which stage this is, and with what.");
    return false;
  } else {
    using result = std::invoke_result_t<f&, Given>;
    constexpr bool ordinary = !is_task<std::remove_cvref_t<result>>;
    static_assert(ordinary,
                  "nopal: a stage of a pipeline is an ordinary function. Write [&](auto&& x) { return nopal::sync_wait(f, x); } for a "
                  "coroutine function f.");
    constexpr bool hands_on = IsLast || !ordinary || !std::is_void_v<result>;
    static_assert(hands_on, "nopal: only the last stage of a pipeline may return void: the next one is called with what a stage returns.");
    constexpr bool is_object = IsLast || !std::is_array_v<std::remove_reference_t<result>>;
    static_assert(
        is_object,
        "nopal: a stage of this pipeline returns an array, and the next one would be called with a pointer into something that may be "
        "gone. Return a std::array, or a pointer to what stays.");
    if constexpr (ordinary && hands_on && is_object && !IsLast) {
      constexpr bool kept = std::is_constructible_v<std::decay_t<result>, result> || !std::is_reference_v<result>;
      static_assert(kept,
                    "nopal: a stage of this pipeline returns a reference to something that cannot be copied, and the next one would be "
                    "called with a copy. Return a pointer.");
      return kept;
    }
    return ordinary && hands_on && is_object;
  }
}
template <std::size_t Number, class Given, class Stage, class... Stages>
consteval bool may_be_stages() {
  if constexpr (!is_stage<std::remove_cv_t<Stage>>) {
    static_assert(is_stage<std::remove_cv_t<Stage>>,
                  "nopal: a stage of a pipeline says how items pass through it. Write stage::serial_in_order{f}, stage::serial{f} or "
                  "stage::parallel{f} for f, with nopal:: before it.");
    return false;
  } else if constexpr (may_be_stage<Number, Stage, Given, sizeof...(Stages) == 0>()) {
    if constexpr (sizeof...(Stages) > 0) {
      return may_be_stages<Number + 1, made_by<function_of<Stage>, Given>&&, Stages...>();
    } else {
      return true;
    }
  } else {
    return false;  // the message above is the only one
  }
}
template <class Source, class... Stages>
consteval bool may_be_pipeline() {
  if constexpr (sizeof...(Stages) == 0) {
    static_assert(sizeof...(Stages) > 0, "nopal: a pipeline has at least one stage behind its source.");
    return false;
  } else if constexpr (may_be_source<Source>()) {
    using items = std::remove_cvref_t<std::invoke_result_t<Source&>>;
    return may_be_stages<1, decltype(*std::declval<items>()), Stages...>();
  } else {
    return false;
  }
}

}  // namespace core

/// Calls source() again and again, until it returns std::nullopt, and takes each item that it returns through all stages: each stage is
/// called with what the one before has returned, as a temporary, and what the last returns is dropped. Returns when all that has begun has
/// ended. The argument of a stage is gone once the stage has returned: it must return no view of it, no pointer to it and no reference into
/// it. Of a stage that returns a reference the next one gets a copy.
///
/// At most `n` items are in the pipeline at once. The source is called by one thread at a time. So is each stage::serial_in_order, for the
/// items in the order of the source, and each stage::serial, in any order; a stage::parallel may be called by several at once. A worker
/// that has taken an item through a stage continues with the same item, while it is in the cache. A stage may fork, wait, and run a pipeline
/// of its own: while it waits, its item holds a token, and the worker does something else. A function that is given twice, by std::ref or
/// in one stage object, is that of two stages, which do not wait for each other.
///
///     nopal::pipeline(nopal::tokens{16}, read_block, nopal::stage::parallel{compress}, nopal::stage::serial_in_order{write_block});
///
/// With enough tokens a stage may wait for what a later item does, if neither of the two can throw: a later item that does not begin, or ends
/// where it is, never does it. Likewise what a later item awaits of an earlier one. Later items are not asked to stop where an earlier one has
/// thrown.
///
/// If a stage or the source throws, no further items begin, and later ones in the pipeline end where they are. Rethrows the exception that
/// serial execution, item by item, would have met first, once all has ended. If the caller is asked to stop (stop.hpp), the source is not
/// called again, items end before their next stage, and this throws nopal::stopped, unless an earlier item has thrown something else. Throws
/// std::invalid_argument if `n` is below 1, and std::bad_alloc, before anything was called. On a thread that works for no pool it runs on
/// default_pool(), and throws what default_pool() throws.
///
/// Suspends: the fiber, task or function that calls it may be resumed on another thread. Functions and values may be of any type that moves
/// into the call, or not even that: values are made where they stay until the next stage has returned.
///
/// Cost besides the calls: O(1) for each item and stage, and no memory: the items are in a ring of `n` places, made at the beginning. Time:
/// with work T1 for all items, P workers take T1/P, or what the dearest serial stage takes for all, or T1/n, whichever is most, as far as
/// the other stages keep it busy.
template <class Source, class... Stages>
void pipeline(tokens n, Source&& source, Stages&&... stages) {
  if constexpr (core::may_be_pipeline<std::remove_reference_t<Source>, std::remove_reference_t<Stages>...>()) {
    if (n.items < 1) core::reject_tokens(n.items);
    core::typed_flow<std::remove_reference_t<Source>, std::remove_reference_t<Stages>...> f{static_cast<std::size_t>(n.items), source,
                                                                                            stages...};
    if (core::state_here()->works()) return f.run();
    default_pool().run([&f] { f.run(); });
  }
}

}  // namespace nopal
