#pragma once

// What each site has done in a region: added up by all threads, in one of many tables. Next: ../../profile.hpp, which reads them.

#include <cstdint>
#include <vector>

#include "nopal/profile/path.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct site_totals {
  std::uint64_t procedures = 0;
  std::uint64_t work = 0;
};

/// Procedures of `site` have ended in `region`. Any thread. Where there is no memory it is not counted, and out_of_memory says so.
void add_to_totals(std::uint32_t region, site_id site, site_totals add) noexcept;
/// The sums so far, by the number of the site. Those of procedures whose end the caller has seen are in it. Throws std::bad_alloc.
std::vector<site_totals> totals_of(std::uint32_t region);
/// Nobody asks for this region any more.
void forget_totals(std::uint32_t region) noexcept;

}  // namespace nopal::core
