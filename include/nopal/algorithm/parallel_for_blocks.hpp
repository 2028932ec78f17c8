#pragma once

// parallel_for_blocks: a loop whose body gets a range of its own, and not one iteration. Next: core/loop/blocks_of.hpp.

#include "nopal/core/compiler/config.hpp"

#include <cstdint>
#include <type_traits>

#include "nopal/algorithm/grain.hpp"
#include "nopal/core/loop/blocks_of.hpp"
#include "nopal/core/loop/limits.hpp"
#include "nopal/core/task/arguments.hpp"

namespace nopal::inline NOPAL_ABI {

struct parallel_for_blocks_function {
  /// Calls body(f, l) for blocks [f, l) that together are [first, last), none of them empty, each of any size; with grain{n} of exactly n
  /// iterations, but for the last. Everything else is as for parallel_for: the index is of the limits' common type, blocks run at once on
  /// several workers, and of each part of the range the lower block first.
  template <core::loop_index First, core::loop_index Last, class Body>
  void operator()(First first, Last last, Body&& body, grain g = grain{0}) const {
    using index = core::index_of<First, Last>;
    constexpr bool called = std::is_invocable_v<Body&, index, index>;
    static_assert(called, "nopal: parallel_for_blocks calls its body with the two ends of a block: [&](auto first, auto last) { ... }");
    if constexpr (called) {
      static_assert(!core::is_task<std::remove_cvref_t<std::invoke_result_t<Body&, index, index>>>,
                    "nopal: the body of a loop is an ordinary function. Call nopal::sync_wait(f, first, last) in it for a "
                    "coroutine function f.");
      auto const range = core::limits_of(first, last);
      auto blocks = [&](std::uint64_t from, std::uint64_t to) { static_cast<void>(body(range.at(from), range.at(to))); };
      core::run_blocks<Body>(range.count, g, true, blocks);
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
