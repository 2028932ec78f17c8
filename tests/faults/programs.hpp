#pragma once

// The programs of the scenarios: each returns true if its result is right, and throws the exception that a fault causes. If lack of memory
// may end one, it is written as a careful program: it waits for what was started before an exception leaves it.

#include "nopal/pool.hpp"

namespace test::faults {

// Of tasks and jobs.
bool runs(nopal::pool& p);
bool submits(nopal::pool& p);
bool detaches(nopal::pool& p);
bool goes_deep(nopal::pool& p);
bool nests_strands(nopal::pool& p);
bool waits_for_tasks(nopal::pool& p);
bool takes_scratch(nopal::pool& p);
bool resumes_elsewhere(nopal::pool& p);

// Of ordinary functions that fork.
bool forks_natively(nopal::pool& p);
bool forks_in_scopes(nopal::pool& p);
bool uses_the_default_pool(nopal::pool& p);
bool comes_and_goes(nopal::pool& p);

// Of fibers.
bool spawns(nopal::pool& p);
bool spawns_outside(nopal::pool& p);
bool fibers_park(nopal::pool& p);
bool waits_with_limits(nopal::pool& p);
bool synchronises(nopal::pool& p);
bool passes_through_channels(nopal::pool& p);
bool reports(nopal::pool& p);

// Of exceptions.
bool throws(nopal::pool& p);

// Of C.
bool speaks_c(nopal::pool& p);

}  // namespace test::faults
