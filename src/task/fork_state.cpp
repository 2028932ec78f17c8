#include "nopal/core/task/fork_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

// The state of threads that work for no pool. Its arena has no segment, so that a task that is born there ends the program with a message
// in grow_arena. The assembly files in src/architecture begin each thread's word with its address.
extern "C" {
constinit fork_state nopal_no_worker;
}
// The state of threads in a stop region, whose loops must all ask whether they must stop.
static constinit fork_state no_worker_in_region;

void work_for(fork_state* s) noexcept { write_thread_word<thread_word::state>(s != nullptr ? s : &nopal_no_worker); }
void work_for_none(bool in_region) noexcept { work_for(in_region ? &no_worker_in_region : nullptr); }
std::atomic<std::uint64_t>& alone_outside() noexcept { return nopal_no_worker.alone; }

}  // namespace nopal::core
