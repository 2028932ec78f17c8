#pragma once

// parallel_for: a loop whose iterations may run at once. Next: core/loop/blocks_of.hpp, what becomes of the body; core/loop/loop.hpp, the
// engine; parallel_for_blocks.hpp, for a body that wants a range.

#include "nopal/core/compiler/config.hpp"

#include <cstdint>
#include <type_traits>

#include "nopal/algorithm/grain.hpp"
#include "nopal/core/loop/blocks_of.hpp"
#include "nopal/core/loop/limits.hpp"
#include "nopal/core/task/arguments.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

/// A table that is looped over row by row, as one loop of all its places.
template <class R, class C>
struct table {
  limits<R> rows;
  limits<C> columns;

  /// Calls body(r, c) for the places from `from` to `to`, row by row.
  template <class Body>
  void run(Body& body, std::uint64_t from, std::uint64_t to) const {
    std::uint64_t row = from / columns.count;
    std::uint64_t column = from % columns.count;
    for (std::uint64_t left = to - from; left != 0; ++row, column = 0) {
      std::uint64_t const n = left < columns.count - column ? left : columns.count - column;
      R const r = rows.at(row);
      C const end = columns.at(column + n);
      for (C c = columns.at(column); c < end; ++c) static_cast<void>(body(r, c));
      left -= n;
    }
  }
};

}  // namespace core

/// Calls body(i) for each i of [first, last), in parallel where workers are free. Any thread may call, at any depth: a task, a fiber,
/// native code, the body of another loop; off a pool a long loop brings in default_pool(), and a short one runs where it is called.
///
/// The index is of the limits' common type. The body is called by its name, by several workers at once: it is neither copied nor moved,
/// unless it is small, trivially copyable and can be called as a constant. It is an ordinary function, and may fork, wait and loop.
/// Iterations run in any order, and none may wait for a later one: a loop may run as the serial one.
///
/// Throws what serial execution would have thrown first. What was before that has run then; what comes after it is not begun any more, but
/// may have been. Also throws what default_pool() throws, before anything or after some iterations; and std::invalid_argument, before
/// anything, if `first` is negative and `last` of a type without a sign.
///
/// The loop is split when a thief asks, and not before: with n iterations of work W and span S it takes O(log n) forks for each steal and
/// O(log n) otherwise, and W/P + O(S + log n) time. grain{n} fixes the least number of iterations that one worker takes.
struct parallel_for_function {
  template <core::loop_index First, core::loop_index Last, class Body>
  void operator()(First first, Last last, Body&& body, grain g = grain{0}) const {
    using index = core::index_of<First, Last>;
    constexpr bool called = std::is_invocable_v<Body&, index>;
    static_assert(called, "nopal: parallel_for calls its body with an index: [&](auto i) { ... }");
    if constexpr (called) {
      static_assert(!core::is_task<std::remove_cvref_t<std::invoke_result_t<Body&, index>>>,
                    "nopal: the body of a loop is an ordinary function. Call nopal::sync_wait(f, i) in it for a coroutine function f.");
      auto const range = core::limits_of(first, last);
      auto blocks = [&](std::uint64_t from, std::uint64_t to) {
        using given = std::remove_reference_t<Body>;
        constexpr bool copied = core::copied_for_a_block<given, index>;
        core::body_of_block<given, copied> call = static_cast<core::source_of_body<given, copied>>(body);
        index const end = range.at(to);
        for (index i = range.at(from); i < end; ++i) static_cast<void>(call(i));
      };
      core::run_blocks<Body>(range.count, g, false, blocks);
    }
  }

  /// No loop: refuses parallel_for(range, body) and parallel_for(n, body), and says what to write instead.
  template <class Range, class Body>
  auto operator()(Range&&, Body&&) const {
    static_assert(
        sizeof(std::remove_reference_t<Range>*) == 0,
        "nopal: parallel_for goes from one number to another: parallel_for(0, n, [&](auto i) { ... }). For the elements of a range "
        "write nopal::for_each(range, [&](auto& x) { ... }).");
  }

  /// No loop either: parallel_for(first, last, step, body), and limits that are no whole numbers.
  template <class First, class Last, core::loop_index Step, class Body>
    requires(!core::loop_index<std::remove_cvref_t<Body>>)
  void operator()(First&&, Last&&, Step, Body&&, grain = grain{0}) const {
    static_assert(
        sizeof(Step) == 0,
        "nopal: parallel_for has no step. Count the iterations: parallel_for(0, (n + step - 1) / step, [&](auto k) { auto i = k * "
        "step; ... }).");
  }
  template <class First, class Last, class Body>
    requires(!core::loop_index<std::remove_cvref_t<First>> || !core::loop_index<std::remove_cvref_t<Last>>)
  void operator()(First&&, Last&&, Body&&, grain = grain{0}) const {
    static_assert(
        sizeof(std::remove_reference_t<First>*) == 0,
        "nopal: parallel_for counts whole numbers of at most 64 bits. For the elements of a range, or between two iterators, write "
        "nopal::for_each(first, last, [&](auto& x) { ... }).");
  }

  /// Calls body(r, c) for each r of [first_row, last_row) and c of [first_column, last_column). Serial order, by which exceptions go, is
  /// row by row, and each worker takes whole stretches of that: parts of a row, or many rows. grain{n} counts places.
  template <core::loop_index R1, core::loop_index R2, core::loop_index C1, core::loop_index C2, class Body>
  void operator()(R1 first_row, R2 last_row, C1 first_column, C2 last_column, Body&& body, grain g = grain{0}) const {
    using row = core::index_of<R1, R2>;
    using column = core::index_of<C1, C2>;
    constexpr bool called = std::is_invocable_v<Body&, row, column>;
    static_assert(called, "nopal: parallel_for of two dimensions calls its body with two indices: [&](auto row, auto column) { ... }");
    if constexpr (called) {
      static_assert(!core::is_task<std::remove_cvref_t<std::invoke_result_t<Body&, row, column>>>,
                    "nopal: the body of a loop is an ordinary function. Call nopal::sync_wait(f, r, c) in it for a coroutine "
                    "function f.");
      core::table<row, column> const all{core::limits_of(first_row, last_row), core::limits_of(first_column, last_column)};
      if (all.columns.count == 0) return;
      if (all.rows.count > ~std::uint64_t{0} / all.columns.count) {  // nobody can count the places: more than any computer runs
        return (*this)(first_row, last_row,
                       [&](row r) { (*this)(first_column, last_column, [&](column c) { static_cast<void>(body(r, c)); }); });
      }
      auto blocks = [&](std::uint64_t from, std::uint64_t to) {
        using given = std::remove_reference_t<Body>;
        constexpr bool copied = core::copied_for_a_block<given, row, column>;
        core::body_of_block<given, copied> call = static_cast<core::source_of_body<given, copied>>(body);
        all.run(call, from, to);
      };
      core::run_blocks<Body>(all.rows.count * all.columns.count, g, false, blocks);
    }
  }
};
inline constexpr parallel_for_function parallel_for{};

}  // namespace nopal
