#include "nopal/core/task/fork_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

// The state of threads that work for no pool: its arena has no segment, so that a task that is born there ends the program with a message
// in grow_arena. The assembly files in src/architecture begin each thread's word with its address.
extern "C" {
constinit fork_state nopal_no_worker;
}

void work_for(fork_state* s) noexcept { write_thread_word<thread_word::state>(s != nullptr ? s : &nopal_no_worker); }

}  // namespace nopal::core
