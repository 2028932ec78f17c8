#pragma once

// parallel_for, parallel_for_blocks: loops whose iterations may run at once. Next: core/loop/loop.hpp, the engine, and what becomes of
// the body.

#include "nopal/core/compiler/config.hpp"

#include <cstdint>
#include <type_traits>

#include "nopal/affinity.hpp"
#include "nopal/algorithm/grain.hpp"
#include "nopal/core/loop/loop.hpp"
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

/// parallel_for(first, last, body): calls body(i) for each i of [first, last), in parallel where workers are free. Any thread may call it,
/// at any depth: a task, a fiber, native code, the body of another loop. Off a pool a long loop runs on default_pool(), and a short one
/// where it is called.
///
/// The index has the limits' common type. Several workers call the body at once. It is neither copied nor moved, unless it is small,
/// trivially copyable and can be called as a constant. It is an ordinary function, and may fork, wait and loop. Iterations run in any
/// order, and none may wait for a later one: the loop may run serially.
///
/// Throws what serial execution would have thrown first. All iterations before that one have run; those behind it may have run, and are not
/// begun any more. Throws what default_pool() throws, before the first iteration or after some. Throws std::invalid_argument, before the
/// first iteration, if `first` is negative and the type of `last` is unsigned.
///
/// A long loop offers its later half, and is split again when a thief asks. With n iterations of work W and span S it makes O(log n) forks
/// for each steal and O(log n) otherwise, and takes W/P + O(S + log n) time. grain{n} fixes the least number of iterations that one worker
/// takes.
struct parallel_for_function {
  template <core::loop_index First, core::loop_index Last, class Body>
  void operator()(First first, Last last, Body&& body, grain g = grain{0}) const {
    with_blocks(first, last, body, [&](std::uint64_t count, auto& blocks) { core::run_blocks<Body>(count, g, false, blocks); });
  }
  /// As above, and its parts come back to the workers that had them: affinity.hpp.
  template <core::loop_index First, core::loop_index Last, class Body>
  void operator()(First first, Last last, Body&& body, affinity& keep) const {
    with_blocks(first, last, body, [&](std::uint64_t count, auto& blocks) { core::uses_affinity{keep}.run(count, blocks); });
  }

  /// Calls run(count, blocks), where blocks(from, to) calls the body for these iterations.
  template <class First, class Last, class Body, class Run>
  NOPAL_INLINE static void with_blocks(First first, Last last, Body& body, Run const& run) {
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
      run(range.count, blocks);
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

struct parallel_for_blocks_function {
  /// Calls body(f, l) for blocks [f, l) that together are [first, last), none of them empty, each of any size; with grain{n} of exactly n
  /// iterations, but for the last. Everything else is as for parallel_for: the index is of the limits' common type, blocks run at once on
  /// several workers, and of each part of the range the lower block first.
  template <core::loop_index First, core::loop_index Last, class Body>
  void operator()(First first, Last last, Body&& body, grain g = grain{0}) const {
    with_blocks(first, last, body, [&](std::uint64_t count, auto& blocks) { core::run_blocks<Body>(count, g, true, blocks); });
  }
  /// As above, in at most 8 blocks for each worker, which come back to the workers that had them: affinity.hpp.
  template <core::loop_index First, core::loop_index Last, class Body>
  void operator()(First first, Last last, Body&& body, affinity& keep) const {
    with_blocks(first, last, body, [&](std::uint64_t count, auto& blocks) { core::uses_affinity{keep}.run(count, blocks); });
  }

  /// Calls run(count, blocks), where blocks(from, to) calls the body.
  template <class First, class Last, class Body, class Run>
  NOPAL_INLINE static void with_blocks(First first, Last last, Body& body, Run const& run) {
    using index = core::index_of<First, Last>;
    constexpr bool called = std::is_invocable_v<Body&, index, index>;
    static_assert(called, "nopal: parallel_for_blocks calls its body with the two ends of a block: [&](auto first, auto last) { ... }");
    if constexpr (called) {
      static_assert(!core::is_task<std::remove_cvref_t<std::invoke_result_t<Body&, index, index>>>,
                    "nopal: the body of a loop is an ordinary function. Call nopal::sync_wait(f, first, last) in it for a "
                    "coroutine function f.");
      auto const range = core::limits_of(first, last);
      auto blocks = [&](std::uint64_t from, std::uint64_t to) { static_cast<void>(body(range.at(from), range.at(to))); };
      run(range.count, blocks);
    }
  }

  /// No loop: refuses ranges, iterators and steps, and says what to write instead.
  template <class Range, class Body>
  void operator()(Range&&, Body&&) const {
    say<Range>();
  }
  template <class First, class Last, class Body>
    requires(!core::loop_index<std::remove_cvref_t<First>> || !core::loop_index<std::remove_cvref_t<Last>>)
  void operator()(First&&, Last&&, Body&&, grain = grain{0}) const {
    say<First>();
  }
  template <class First, class Last, core::loop_index Step, class Body>
  void operator()(First&&, Last&&, Step, Body&&) const {
    say<Step>();
  }

 private:
  template <class T>
  static void say() {
    static_assert(
        sizeof(std::remove_reference_t<T>*) == 0,
        "nopal: parallel_for_blocks goes from one whole number to another, without a step: parallel_for_blocks(0, n, [&](auto first, "
        "auto last) { ... }). For n elements at a time give nopal::grain{n} as the last argument.");
  }
};
inline constexpr parallel_for_blocks_function parallel_for_blocks{};

}  // namespace nopal
