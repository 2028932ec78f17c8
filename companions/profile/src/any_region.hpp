#pragma once

// A region as a procedure: what nopal::profile is, and the region of the whole process. Next: report.hpp, what it has measured.

#include <string>

#include "nopal/profile/procedure.hpp"
#include "nopal/profile_report.hpp"

namespace nopal::inline NOPAL_ABI::core {

inline constexpr double most_burden = 1e15;

/// The region `p` begins, inside of what runs here. Throws std::invalid_argument if that is measured in another unit, or the
/// burden is no number; std::bad_alloc.
void begin_region(procedure& p, profile_unit unit, double burden, std::string const& what_if);
/// It ends, and is a part of what runs around it. By the function that has begun it.
void end_region(procedure& p) noexcept;
/// Nobody asks for it any more.
void forget_region(procedure const& p) noexcept;

}  // namespace nopal::core
