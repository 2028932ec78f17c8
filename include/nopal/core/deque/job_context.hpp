#pragma once

// A job context: what a strand carries beside its code, in one word. What a strand forks or spawns inherits it, and a thief takes it with
// what it steals. Code that keeps one or hands it on does not know what is in it. A strand context has the fiber-local values, too, which
// only forks inherit. What keeps them, and who adopts them: ../scheduler/README.md, "Job context". Next: continuation.hpp and deque.hpp,
// which have one; worker::runs_in and worker::adopt.

#include <bit>
#include <cstdint>

#include "nopal/core/architecture/control_words.hpp"
#include "nopal/core/stop/stop_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct job_context {
  control_words mode;  ///< the floating-point mode
  region_id region;    ///< the stop region

  /// That of code which runs on the calling thread now, and in the region `r`.
  static job_context now(region_id r) noexcept { return {control_words::now(), r}; }

  bool operator==(job_context const&) const = default;
  /// As one word, so that a thief reads all at once.
  std::uint64_t word() const noexcept { return std::bit_cast<std::uint64_t>(*this); }
  static job_context of(std::uint64_t word) noexcept { return std::bit_cast<job_context>(word); }
};

class fiber_values;

/// That of a strand, and what its code sees by nopal::fiber_local: ../scheduler/fiber_values.hpp.
struct strand_context : job_context {
  fiber_values* values;  ///< those of the fiber or the job that the strand works for; null: between strands

  bool operator==(strand_context const&) const = default;
};

}  // namespace nopal::core
