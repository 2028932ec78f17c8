#pragma once

// The signal that stops a worker which runs for long without a fork. The worker waits inside the signal's handler. Next: ticker.hpp, which
// sends it.

#include <pthread.h>

#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// From now on threads of the process that have a virtual_time handle the signal. It is SIGURG, which does nothing without a handler.
void take_interruptions() noexcept;
/// Unblocks the signal on the calling thread.
void let_interrupt_this_thread() noexcept;
/// Sends it to the thread, which has not ended.
void interrupt(pthread_t thread) noexcept;
/// The cost of a thread_alarm to the strand that it stops, in nanoseconds, without what the handler does: high on a virtual machine.
/// Measured once, in half a millisecond. A signal from another thread costs less.
std::int64_t cost_of_alarm(double ticks_in_a_nanosecond) noexcept;
/// True if the system says that the thread sleeps, and does not only wait for a CPU. `thread`: the system's number of a thread of the
/// process. Does not call malloc, since the thread may hold malloc's lock.
bool is_asleep(int thread) noexcept;

}  // namespace nopal::core
