#include "nopal/core/scheduler/threads.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <string_view>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/task/fork_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// All signals but those that a thread causes itself, and SIGPROF, which is sent to the thread that uses the processor.
sigset_t all_but_own() noexcept {
  sigset_t set;
  ::sigfillset(&set);
  for (int const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) ::sigdelset(&set, own);
  return set;
}

// Memory that faults, behind the state of the thread that forked. Written by the only thread of a child.
constinit std::byte const* low = nullptr;
constinit std::size_t bytes = 0;

}  // namespace

// ---- The signals and the names of threads.

void name_this_thread(std::string_view name, std::string_view what) noexcept {
  if (name.empty()) return;
  std::array<char, 16> text{};
  std::size_t const room = text.size() - 2;  // for the colon and the end
  what = what.substr(0, room - 1);
  name = name.substr(0, room - what.size());
  char* end = std::copy(name.begin(), name.end(), text.begin());
  *end++ = ':';
  std::copy(what.begin(), what.end(), end);
  ::pthread_setname_np(::pthread_self(), text.data());  // it cannot fail: the name is short enough, and the thread is the caller
}

only_own_signals::only_own_signals() noexcept {
  sigset_t const blocked = all_but_own();
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

only_own_signals::~only_own_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void take_own_signals() noexcept {
  sigset_t const blocked = all_but_own();
  ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

// ---- A fork in a job.

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
