#pragma once

// A region as a procedure: for nopal::profile, and for the region of the whole process. Next: report.hpp, which makes its report.

#include <string>

#include "nopal/profile/procedure.hpp"
#include "nopal/profile_report.hpp"

namespace nopal::inline NOPAL_ABI::core {

inline constexpr double most_burden = 1e15;

/// Begins the region `p` inside the procedure that runs here. Throws std::invalid_argument if that is measured in another unit, or the
/// burden is not a number; std::bad_alloc.
void begin_region(procedure& p, profile_unit unit, double burden, std::string const& what_if);
/// Ends the region, and adds it to the procedure around it. By the function that has begun it.
void end_region(procedure& p) noexcept;
/// Frees what was counted for the region, which is no longer used.
void forget_region(procedure const& p) noexcept;

}  // namespace nopal::core
