#pragma once

// The work of each site in a region: each thread adds to one of many tables. Next: src/report.cpp, which reads them.

#include <cstdint>
#include <vector>

#include "nopal/profile/path.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct site_totals {
  std::uint64_t procedures = 0;
  std::uint64_t work = 0;
};

/// Procedures of `site` have ended in `region`. Any thread. Without memory they are not counted, and it calls out_of_memory.
void add_to_totals(std::uint32_t region, site_id site, site_totals add) noexcept;
/// The sums so far, by the number of the site. They include all procedures that the caller has seen end. Throws std::bad_alloc.
std::vector<site_totals> totals_of(std::uint32_t region);
/// Frees the sums of the region, which is no longer used.
void forget_totals(std::uint32_t region) noexcept;

}  // namespace nopal::core
