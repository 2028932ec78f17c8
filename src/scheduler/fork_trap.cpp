#include "nopal/core/scheduler/fork_trap.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/task/fork_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// Memory that faults, behind the state of the thread that forked. Written by the only thread of a child.
constinit std::byte const* low = nullptr;
constinit std::size_t bytes = 0;

}  // namespace

// The state ends where the memory that faults begins. What a worker has beyond its fork_state would be there.
void fall_into_fork_trap() noexcept {
  if (!state_here()->works()) return;
  auto const page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  static_assert(sizeof(fork_state) <= 4096);
  std::size_t const trapped = (sizeof(worker) + page - 1) / page * page;
  void* const all = ::mmap(nullptr, page + trapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED || ::mprotect(all, page, PROT_READ | PROT_WRITE) != 0) {
    die("fork in a job: the child has no memory for a page; fork on a thread that works for no pool");
  }
  low = static_cast<std::byte*>(all) + page;
  bytes = trapped;
  work_for(::new (static_cast<std::byte*>(all) + page - sizeof(fork_state)) fork_state);
}

bool is_fork_trap(void const* address) noexcept {
  auto const* const at = static_cast<std::byte const*>(address);
  return low != nullptr && at >= low && at < low + bytes;
}

}  // namespace nopal::core
