#include "nopal/core/task/frame.hpp"
#include "nopal/core/task/awaiters.hpp"
#include "nopal/core/task/fork_state.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "report/place.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- What a thread works for.

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

// ---- What a frame's children have thrown.

void frame::record(std::uint64_t stolen, std::exception_ptr e) noexcept { first.record(join, stolen, std::move(e)); }

std::exception_ptr frame::take() noexcept {
  state = 0;
  return first.take(join);
}

void frame::rethrow() { std::rethrow_exception(take()); }

// ---- The slot of a task that nopal did not start.

// A page of constants, so that writing a result of up to that size to its beginning is a fault.
alignas(64) static constexpr std::array<std::byte, 4096> no_slot{};

void* place_without_slot() noexcept { return const_cast<std::byte*>(no_slot.data()); }
bool is_without_slot(void const* address) noexcept { return address >= no_slot.data() && address < no_slot.data() + no_slot.size(); }

// ---- Moves between fork and join.

std::exception_ptr move_misuse() noexcept {
  try {
    throw std::logic_error{with_place(
        "nopal::resume_on between fork and join: this task's stack may belong to a child now; move before the first fork, or after the "
        "join")};
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace nopal::core
