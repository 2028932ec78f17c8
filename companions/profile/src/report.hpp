#pragma once

// The report of a region. report.cpp also has its table and its JSON.

#include "nopal/profile/procedure.hpp"
#include "nopal/profile_report.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Of a region that has ended. Throws std::bad_alloc.
profile_report report_of(procedure const& region);

}  // namespace nopal::core
