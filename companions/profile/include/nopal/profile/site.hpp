#pragma once

// Sites: the places in the source that fork, numbered; the work of each in a region; and how often memory was lacking for what is counted.
// Any thread. Next: path.hpp, the longest path by site.

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The number of a place that forks.
using site_id = std::uint32_t;
/// The region's own function, and what it calls.
inline constexpr site_id site_of_region = 0;
/// Jobs: pool::run, submit and detach, sync_wait.
inline constexpr site_id site_of_jobs = 1;
/// Forks of unknown place: with more arguments than parallel_invoke keeps a place for, or beyond the most sites.
inline constexpr site_id site_unknown = 2;

/// The number of a place. Each place has one, or one for each file that compiles it: the report merges these. O(1).
NOPAL_API site_id site_at(std::source_location const& where) noexcept;
/// The place of a site; empty for the three above.
std::source_location place_of(site_id site) noexcept;

/// The asked place: any file with a name that ends so. Never freed, since procedures may outlive their region.
struct asked_place {
  std::string file;
  std::uint32_t line;
};
/// True if the site is at the asked place. O(1), usually one comparison.
bool is_asked(asked_place const& place, site_id site) noexcept;

// The work of each site in a region: each thread adds to one of many tables. The report reads them.

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

// Counts what a profile could not keep for lack of memory: its hooks throw nothing, and its report has the number.

void out_of_memory() noexcept;
std::uint64_t times_out_of_memory() noexcept;

}  // namespace nopal::core
