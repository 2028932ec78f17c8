#pragma once

// The back end of std::parallel_scheduler (P2079) on a pool. A program that links nopal::execution_parallel_scheduler has it, on
// default_pool(), with nothing to include: src/parallel_scheduler.cpp. Next: scheduler.hpp, which does the same without virtual calls.

#include "nopal/core/compiler/config.hpp"

#include <memory>
#include <stdexec/execution.hpp>

#include "nopal/pool.hpp"

namespace nopal::inline NOPAL_ABI {

/// A back end that runs on `p`, which must outlive what was scheduled. It allocates nothing after this call: its work is stored in what the
/// interface provides. A body of bulk that throws ends the program: the interface says that it does not throw. Throws std::bad_alloc.
std::shared_ptr<stdexec::parallel_scheduler_replacement::parallel_scheduler_backend> make_parallel_scheduler_backend(pool& p);

}  // namespace nopal
