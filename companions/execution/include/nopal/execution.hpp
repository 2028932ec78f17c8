#pragma once

// nopal as std::execution knows an execution resource (P2300): the scheduler of a pool, a sender of a coroutine or function of nopal, and
// co_await of any sender in a task. The names are those of NVIDIA's stdexec, which is headers alone; docs/execution.md. Next:
// execution/work.hpp, how an operation reaches a worker without memory of its own.

#if !__has_include(<stdexec/execution.hpp>)
#error \
    "nopal/execution.hpp needs stdexec (https://github.com/NVIDIA/stdexec): add its folder include/ to the compiler's, or give CMake -DSTDEXEC_ROOT=<its folder> and link nopal::execution"
#else

#include "nopal/core/compiler/config.hpp"

#include "nopal/execution/scheduler.hpp"
#include "nopal/execution/tasks.hpp"
#include "nopal/pool.hpp"

namespace nopal::inline NOPAL_ABI {

/// The scheduler of a pool. It is a pointer, and equal to another of the same pool; it may be used as long as the pool exists, whose
/// destructor waits for the operations that were started. O(1).
///
/// schedule() completes on a worker, as a fiber: what follows may wait, fork and loop with all that nopal has. It allocates nothing. If the
/// receiver's stop token was requested before a worker begins it, it completes with set_stopped. bulk, bulk_chunked and bulk_unchunked after
/// it are loops of nopal; see execution/bulk.hpp. What start() is called in counts: the work inherits the stop region, the priority and the
/// floating-point mode.
inline stdexec::scheduler auto get_scheduler(pool& p) noexcept { return core::senders::scheduler{core::pool_access::state(p)}; }
/// It would outlive the pool.
void get_scheduler(pool&&) = delete;

}  // namespace nopal

#endif
