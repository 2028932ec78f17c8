#pragma once

// A job context: what a strand carries beside its code, in one word. What a strand forks or spawns inherits it, and a thief takes it with
// what it steals. Code that keeps one or hands it on does not know what is in it. What keeps it, and who adopts it:
// ../scheduler/README.md, "Job context". Next: continuation.hpp and deque.hpp, which have one; worker::runs_in and worker::adopt.

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

}  // namespace nopal::core
