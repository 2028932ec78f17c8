#include "nopal/core/task/fork_state.hpp"

namespace nopal::core {

// What threads without a worker have: every allocation ends in a message. The thread words begin with it: src/architecture.
extern "C" {
constinit fork_state nopal_no_worker;
}

void work_for(fork_state* s) noexcept { write_thread_word<thread_word::state>(s != nullptr ? s : &nopal_no_worker); }

}  // namespace nopal::core
