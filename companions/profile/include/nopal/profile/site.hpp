#pragma once

// Sites: the places in the source that fork, numbered. Any thread. Next: path.hpp and totals.hpp, which count by site.

#include <source_location>

#include "nopal/core/compiler/config.hpp"
#include "nopal/profile/path.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

}  // namespace nopal::core
