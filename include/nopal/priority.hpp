#pragma once

// How urgent work is. Given to pool::submit, detach, run and spawn, and to spawn, before everything else. Next:
// core/scheduler/submission.hpp, what the scheduler does about it.

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI {

/// How urgent work is: a job, a fiber, or a graph that is given to a pool. What it begins inherits it, unless that is given one of its own:
/// forks, tasks, fibers, jobs, nodes of graphs.
///
/// High work begins before all other. Where each worker is busy with less urgent work, one interrupts that at its next poll (a fork or call
/// of a task, parallel_invoke, a scope, between two blocks of a loop), at most every 0.1 ms: so it begins within 0.2 ms and one leaf, after
/// the high work that came before it. Its waits end so, too. Low work begins where a worker finds nothing else. Normal work interrupts
/// nothing, and begins before low.
///
/// Nothing starves. Where high work comes without end, each worker runs other work for 0.1 ms after 64 that were high. Where other work comes
/// without end, the low work that has waited longest begins like high work, one every 10 ms (not under a controlled schedule or on a
/// simulated machine). core/scheduler/due.md has the argument.
///
///     pool.submit(nopal::priority::high, answer, request);
///     nopal::spawn(nopal::priority::low, counter, [] { compact(); });
enum class priority : unsigned char { low, normal, high };

/// That of the caller: what it begins inherits it. Off a pool it is normal. Any thread.
NOPAL_API priority current_priority() noexcept;

}  // namespace nopal
