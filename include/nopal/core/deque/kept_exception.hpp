#pragma once

// The exception that a fork-join scope keeps for its join: of all that its children throw, the first that serial execution would have met.
// Why the order is right: README.md, "Exceptions in serial order". Next: ../task/frame.hpp and ../stack/children.hpp, which have one.

#include <cstdint>
#include <exception>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/join_word.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Undefined until the join word says "recorded"; all accesses are under that word's lock, or by the sole owner of a complete scope.
struct kept_exception {
  void* first;         ///< the one pointer inside std::exception_ptr
  std::uint64_t when;  ///< its epoch: how often the parent had been stolen when it forked that child

  /// Keeps `e` if serial execution would have met it before the exception kept so far. `stolen`: the epoch of the child that has thrown it.
  /// Epochs are in serial order, and within one children run one after the other, so the first that is recorded is the first in order.
  /// Called by any number of children's workers at once, each before it arrives.
  NOPAL_COLD void record(join_word& join, std::uint64_t stolen, std::exception_ptr e) noexcept;
  /// Takes what was recorded; the join word starts the next scope. By the sole owner, and only if something was recorded.
  NOPAL_COLD std::exception_ptr take(join_word& join) noexcept;
  /// What was recorded, which stays, as the earliest of the next scope. As take otherwise.
  NOPAL_COLD std::exception_ptr look(join_word& join) noexcept;
};

}  // namespace nopal::core
