#pragma once

// The exception that a fork-join scope keeps for its join: of all that its children throw, the first that serial execution would have met.
// Why the order is right: README.md, "Exceptions in serial order". Next: ../task/frame.hpp and ../stack/children.hpp, which have one.

#include <cstdint>
#include <exception>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/join_word.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Undefined until the join word says "recorded". All accesses are under that word's lock, or by the sole owner of a complete scope.
struct kept_exception {
  void* first;         ///< the one pointer inside std::exception_ptr
  std::uint64_t when;  ///< its epoch: how often the parent had been stolen when it forked that child

  /// Keeps `e` if serial execution would have met it before the exception kept so far. `stolen`: the epoch of the child that threw it.
  /// Epochs are in serial order. Within one epoch children run one after the other, so the first recorded is the first in order. Any number
  /// of children's workers may call this at once, each before it arrives.
  NOPAL_COLD void record(join_word& join, std::uint64_t stolen, std::exception_ptr e) noexcept;
  /// Takes what was recorded, and starts the next scope of the join word. By the sole owner, and only if something was recorded.
  NOPAL_COLD std::exception_ptr take(join_word& join) noexcept;
  /// Returns what was recorded and keeps it, as the earliest of the next scope. Otherwise as take.
  NOPAL_COLD std::exception_ptr look(join_word& join) noexcept;
};

}  // namespace nopal::core
