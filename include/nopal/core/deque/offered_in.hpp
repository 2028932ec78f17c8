#pragma once

// The floating-point mode and the stop region in which all entries of a deque were offered. A thief adopts them with an entry. Why one of
// each is enough for a whole deque: ../scheduler/README.md, "Floating-point mode", and ../stop/README.md. Next: deque.hpp.

#include <bit>
#include <cstdint>

#include "nopal/core/architecture/control_words.hpp"
#include "nopal/core/stop/stop_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct offered_in {
  control_words mode;
  region_id region;

  bool operator==(offered_in const&) const = default;
  /// As one word, so that a thief reads both at once.
  std::uint64_t word() const noexcept { return std::bit_cast<std::uint64_t>(*this); }
  static offered_in of(std::uint64_t word) noexcept { return std::bit_cast<offered_in>(word); }
};

}  // namespace nopal::core
