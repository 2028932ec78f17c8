#pragma once

// The exception that a fork-join scope keeps for its join: of all that its children throw, the one that serial execution would
// have met first. Used by frame.hpp and children.hpp. Why the order is right: README.md, "Exceptions in serial order".

#include <cstdint>
#include <exception>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/join_word.hpp"

namespace nopal::core {

/// Undefined until the join word says "recorded"; all accesses are under that word's lock, or by the sole owner of a complete scope.
struct kept_exception {
  void* first;         ///< the one pointer inside std::exception_ptr
  std::uint64_t when;  ///< how often the parent had been stolen when it forked that child

  /// Keeps `e`, which a child forked after `stolen` steals of its parent has thrown, if serial execution would have met it before
  /// the one kept so far: steals order the epochs, and within an epoch children run one after the other, so the first
  /// to come is the first in order. Any number of children's workers at once.
  NOPAL_COLD void record(join_word& join, std::uint64_t stolen, std::exception_ptr e) noexcept;
  /// What was recorded; the join word starts the next scope. Sole owner only, and only if there is something.
  NOPAL_COLD std::exception_ptr take(join_word& join) noexcept;
};

}  // namespace nopal::core
