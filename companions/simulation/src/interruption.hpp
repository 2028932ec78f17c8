#pragma once

// The signal by which a worker that runs for long without a fork is stopped, inside the signal's handler. Next: ticker.hpp, which sends it.

#include <pthread.h>

#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// From now on threads of the process that have a virtual_time handle the signal: SIGURG, which does nothing where nobody handles it.
void take_interruptions() noexcept;
/// The calling thread takes the signal, whatever it has blocked.
void let_interrupt_this_thread() noexcept;
/// Sends it to the thread, which has not ended.
void interrupt(pthread_t thread) noexcept;
/// What a thread_alarm costs the strand that it stops, in nanoseconds, beside what the handler does: much where the machine is a virtual one.
/// Measured once, in half a millisecond. A signal of another thread costs less.
std::int64_t cost_of_alarm(double ticks_in_a_nanosecond) noexcept;
/// Does this thread of the process, by the system's number, wait for something, and not only for a CPU? By the system's word, and without malloc,
/// whose lock the thread may hold.
bool is_asleep(int thread) noexcept;

}  // namespace nopal::core
