#pragma once

// prometheus: what pools have counted, in the text that Prometheus reads. Next: stats.hpp, the numbers themselves.

#include "nopal/core/compiler/config.hpp"

#include <span>
#include <string>

#include "nopal/stats.hpp"

namespace nopal::inline NOPAL_ABI {

/// The numbers of one pool, and the name of its time series: their label `pool`.
struct named_stats {
  std::string pool;
  stats numbers;
};

/// The numbers of all these pools in Prometheus' text format 0.0.4, for an answer of the type `text/plain; version=0.0.4`. Each number of
/// worker_stats is a metric nopal_NAME with the labels `pool` and `worker`: one that only grows a counter, nopal_NAME_total, any other a
/// gauge. A pool's number that is no sum of its workers' is a gauge nopal_pool_NAME, or a counter, with the label `pool` alone. The text
/// has each metric once, with HELP and TYPE, so give all pools of the process in one call, each with a name of its own. Throws
/// std::bad_alloc.
NOPAL_API std::string prometheus(std::span<named_stats const> pools);
/// As above, of one pool.
///
///     answer(nopal::prometheus(pool.stats(), "mill"));
NOPAL_API std::string prometheus(stats const& numbers, std::string const& pool = "nopal");

}  // namespace nopal
