// The stack-overflow handler: its alternate stacks, what it prints, what it passes on, and how it is installed.

#include "nopal/core/stack/stack_overflow.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/threads.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/task/frame.hpp"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51  // Linux 5.14; older headers lack it
#endif

namespace nopal::inline NOPAL_ABI::core {

#if NOPAL_ASAN || NOPAL_TSAN

stack_overflow_handler::stack_overflow_handler() noexcept {}
stack_overflow_handler::~stack_overflow_handler() {}
void stack_overflow_handler::before_fork() noexcept {}
void stack_overflow_handler::after_fork() noexcept {}
void take_alternate_stack() noexcept {}
void give_back_alternate_stack() noexcept {}

#else

namespace {

// ---- Alternate stacks. Each is a mapping: a guard page, which ends a handler that needs more, then the stack.

// Set once a handler is installed.
std::size_t page = 4096;
std::size_t largest_frame = 4096;  // that the kernel pushes for a handler, with all registers of this processor
std::size_t alternate_bytes = 0;   // without the guard

// The calling thread's alternate stack. The handler reads it.
struct alternate {
  std::byte* low = nullptr;  // the low end of the stack that we gave the thread
  bool has_some = false;     // the thread has that stack or, as far as we know, one of the program's
};
[[gnu::tls_model("initial-exec")]] constinit thread_local alternate mine;  // a signal handler may not call a function for its address

// Its destructor, thread_ends, unmaps the stack. A thread_local object with a destructor would do, but the C library ends the program
// if it has no memory to register that destructor.
pthread_key_t key;
bool have_key = false;  // written under `changes`, before any pool lets a thread read it

void unmap(std::byte* low) noexcept { ::munmap(low - page, page + alternate_bytes); }

bool disable() noexcept {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  return ::sigaltstack(&none, nullptr) == 0;
}

// The thread ends. If the program has put another alternate stack in the place of ours, that stays.
void thread_ends(void* memory) noexcept {
  auto* const low = static_cast<std::byte*>(memory);
  stack_t now{};
  bool const known = ::sigaltstack(nullptr, &now) == 0;
  if (known && (now.ss_flags & SS_ONSTACK) != 0) return;  // a handler on it ends the thread
  if (!known || (now.ss_sp == low && !disable())) {
    // The kernel refuses: then the thread takes no more signals, so that no handler runs on a stack that is unmapped.
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  }
  mine = {};
  unmap(low);
}

void map_alternate_stack() noexcept {
  stack_t now{};
  if (!have_key || ::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  void* const all = ::mmap(nullptr, page + alternate_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return;
  std::byte* const low = static_cast<std::byte*>(all) + page;
  if (::mprotect(low, alternate_bytes, PROT_READ | PROT_WRITE) != 0 || ::pthread_setspecific(key, low) != 0) return unmap(low);
  stack_t ours{};
  ours.ss_sp = low;
  ours.ss_size = alternate_bytes;
  if (::sigaltstack(&ours, nullptr) == 0) {
    mine.low = low;
    return;
  }
  ::pthread_setspecific(key, nullptr);
  unmap(low);
}

// ---- What the handler prints. All of this may be called in a signal handler.

class message {
 public:
  message& add(std::string_view s) noexcept {
    for (char const c : s)
      if (size_ < text_.size()) text_[size_++] = c;
    return *this;
  }
  message& add(std::uint64_t n, int base = 10) noexcept {
    auto const r = std::to_chars(text_.data() + size_, text_.data() + text_.size(), n, base);
    size_ = static_cast<std::size_t>(r.ptr - text_.data());
    return *this;
  }
  message& add(stack const& s, worker const& w) noexcept {
    return add("the native stack at 0x").add(reinterpret_cast<std::uintptr_t>(s.base()), 16).add(" of worker ").add(w.index());
  }
  [[noreturn]] void die() const noexcept {
    static_cast<void>(::write(STDERR_FILENO, text_.data(), size_) < 0);  // if that fails there is nowhere to say so
    ::signal(SIGABRT, SIG_DFL);
    std::abort();
  }

 private:
  std::array<char, 512> text_;
  std::size_t size_ = 0;
};

std::uintptr_t interrupted_stack_pointer([[maybe_unused]] void const* where) noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<ucontext_t const*>(where)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<ucontext_t const*>(where)->uc_mcontext.sp;
#else
  return 0;
#endif
}

// The kernel found no room for the frame of some other signal's handler, which runs on the native stack, and sent SIGSEGV instead, without
// an address.
bool left_no_room_for_a_handler(stack const& s, siginfo_t const& info, void const* where) noexcept {
  std::uintptr_t const sp = interrupted_stack_pointer(where);
  return info.si_code == SI_KERNEL && s.holds(sp) && sp < reinterpret_cast<std::uintptr_t>(s.low()) + 128 + largest_frame;
}

// Ends the program with a message if the fault is one that nopal can explain; else returns.
void say_what_overflowed(siginfo_t const& info, void const* where) noexcept {
  auto const address = static_cast<std::byte const*>(info.si_addr);
  if (mine.low != nullptr && address >= mine.low - page && address < mine.low) {
    message{}
        .add("nopal: a signal handler overflowed its alternate stack, all of its ")
        .add(alternate_bytes)
        .add(" bytes; give the thread a larger one by sigaltstack, before it works for a pool\n")
        .die();
  }
  if (is_without_slot(address)) {
    message{}
        .add("nopal: a task's function was called directly on a worker, by an ordinary function: its result has nowhere to go; use ")
        .add("nopal::sync_wait(f, args...)\n")
        .die();
  }
  if (is_fork_trap(address)) {
    message{}
        .add("nopal: fork in a job: the job returned, or waited, in the child, where its worker is not; there it may exec, exit, _exit, ")
        .add("or use a pool that it makes itself\n")
        .die();
  }
  fork_state const* const state = state_here();
  if (!state->works()) return;
  auto const& w = static_cast<worker const&>(*state);
  stack const& s = *w.here;
  // At a scope's fork `here` is the child's stack already, while the last words are pushed on the parent's.
  if (stack const* const full = s.guards(address) ? &s : w.pool().stacks.guarded_at(address); full != nullptr) {
    message{}
        .add("nopal: stack overflow: ")
        .add(*full, w)
        .add(" is full, all of its ")
        .add(full->mapped())
        .add(" bytes; recurse less deeply in ordinary functions, or raise pool_options::stack_size\n")
        .die();
  }
  if (left_no_room_for_a_handler(s, info, where)) {
    message{}
        .add("nopal: stack overflow: ")
        .add(s, w)
        .add(" has no room left for a signal's handler, of its ")
        .add(s.mapped())
        .add(" bytes; give the handler an alternate stack (SA_ONSTACK), recurse less deeply, or raise pool_options::stack_size\n")
        .die();
  }
  if (w.work.guards(address)) {
    message{}
        .add("nopal: more than ")
        .add(static_cast<std::uint64_t>(w.work.capacity()))
        .add(" forks nest on worker ")
        .add(w.index())
        .add(", on a stack that the program made itself; fork less deeply there, or raise pool_options::stack_size, ")
        .add("which that limit follows\n")
        .die();
  }
}

// ---- What was installed before our handler, and is called as the kernel would have called it.

struct link {
  int signal;
  struct sigaction before{};       // written before our handler is installed
  std::atomic<bool> spent{false};  // the handler before was for one signal only (SA_RESETHAND), which it has had
  bool in_chain = false;           // our handler is installed, or, as far as we know, the program's handler calls it
};
constinit std::array<link, 2> links{{{.signal = SIGSEGV}, {.signal = SIGBUS}}};

// A flag may be the sign bit of an int, hence the unsigned.
bool has(struct sigaction const& a, unsigned flag) noexcept { return (static_cast<unsigned>(a.sa_flags) & flag) != 0; }
bool is_default_or_ignored(struct sigaction const& a) noexcept { return a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN; }

// True if the signal was sent, and not caused by the thread itself. Then it does not happen again when the handler returns.
bool was_sent(int signal, siginfo_t const& info) noexcept {
  return info.si_code <= 0 || (signal == SIGBUS && info.si_code == BUS_MCEERR_AO);
}

// Sends the signal again. It waits until the handler has returned, and then finds no handler: so it ends the program where the thread is,
// and for the reason that is known. A fault would happen again by itself, but not one that the kernel has made of another signal.
void act_by_default(int signal, siginfo_t* info) noexcept {
  struct sigaction none{};
  none.sa_handler = SIG_DFL;
  ::sigaction(signal, &none, nullptr);
  auto const process = ::getpid();
  auto const thread = ::syscall(SYS_gettid);
  if (::syscall(SYS_rt_tgsigqueueinfo, process, thread, signal, info) != 0) ::syscall(SYS_tgkill, process, thread, signal);
}

// The handler. Any thread, at any time. Its mask and flags are those of the handler that was there before: see install.
void on_fault(int signal, siginfo_t* info, void* where) {
  bool const sent = was_sent(signal, *info);
  if (!sent) say_what_overflowed(*info, where);
  link& l = links[signal == SIGBUS ? 1 : 0];
  if (l.before.sa_handler == SIG_IGN && sent) return;
  if (is_default_or_ignored(l.before)) return act_by_default(signal, info);  // a fault cannot be ignored
  // relaxed: it only matters that a single thread finds it false.
  if (has(l.before, SA_RESETHAND) && l.spent.exchange(true, std::memory_order_relaxed)) return act_by_default(signal, info);
  if (has(l.before, SA_SIGINFO)) return l.before.sa_sigaction(signal, info, where);  // it may leave by siglongjmp
  l.before.sa_handler(signal);
}

// ---- Installed while a pool lives.

constinit std::mutex changes;
unsigned pools = 0;

bool is_ours(struct sigaction const& a) noexcept { return has(a, SA_SIGINFO) && a.sa_sigaction == on_fault; }

void install(link& l) noexcept {
  struct sigaction now{};
  if (::sigaction(l.signal, nullptr, &now) != 0 || is_ours(now)) return;
  if (l.in_chain && !is_default_or_ignored(now)) return;  // the program's handler calls ours: above it, ours would call itself
  l.before = now;
  l.spent.store(false, std::memory_order_relaxed);  // relaxed: our handler cannot run before the system call below has installed it
  struct sigaction ours{};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  // The kernel treats our handler as it would have treated the one before: which signals it blocks, and whether it restarts a system call.
  if (!is_default_or_ignored(now)) {
    ours.sa_mask = now.sa_mask;
    ours.sa_flags |= now.sa_flags & (SA_RESTART | SA_NODEFER);
  } else {
    ::sigemptyset(&ours.sa_mask);
    ours.sa_flags |= SA_RESTART;  // a signal that is ignored interrupts nothing
  }
  l.in_chain = ::sigaction(l.signal, &ours, nullptr) == 0;
}

// Installs again what was there before. Does nothing if the program has put a handler above ours: that may call ours, whose code is never
// unloaded.
void restore(link& l) noexcept {
  struct sigaction now{};
  if (!l.in_chain || ::sigaction(l.signal, nullptr, &now) != 0) return;
  if (is_ours(now)) {
    // relaxed: as in on_fault.
    if (has(l.before, SA_RESETHAND) && l.spent.load(std::memory_order_relaxed)) l.before.sa_handler = SIG_DFL;
    ::sigaction(l.signal, &l.before, nullptr);
    l.in_chain = false;
  } else if (is_default_or_ignored(now)) {
    l.in_chain = false;
  }
}

}  // namespace

stack_overflow_handler::stack_overflow_handler() noexcept {
  std::lock_guard const guard{changes};
  if (pools++ != 0) return;
  if (!have_key) {
    page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::size_t const frame = ::getauxval(AT_MINSIGSTKSZ);
    if (frame != 0) largest_frame = frame;
    constexpr std::size_t least_frame = std::size_t{16} << 10, for_handlers = std::size_t{64} << 10;
    alternate_bytes = (std::max(frame, least_frame) + for_handlers + page - 1) / page * page;
    have_key = ::pthread_key_create(&key, thread_ends) == 0;
  }
  for (link& l : links) install(l);
}

stack_overflow_handler::~stack_overflow_handler() {
  {
    std::lock_guard const guard{changes};
    if (--pools == 0) {
      for (link& l : links) restore(l);
    }
  }
  if (!state_here()->works()) give_back_alternate_stack();
}

void stack_overflow_handler::before_fork() noexcept { changes.lock(); }
void stack_overflow_handler::after_fork() noexcept { changes.unlock(); }

void take_alternate_stack() noexcept {
  if (!std::exchange(mine.has_some, true)) map_alternate_stack();
}

void give_back_alternate_stack() noexcept {
  mine.has_some = false;
  if (mine.low == nullptr) return;
  mine.has_some = true;
  // A handler may run on it, or the program may have put another one in its place and put ours back later: then it is unmapped when the
  // thread ends.
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || now.ss_sp != mine.low || (now.ss_flags & SS_ONSTACK) != 0 || !disable()) return;
  if (have_key) ::pthread_setspecific(key, nullptr);
  unmap(mine.low);
  mine = {};
}

#endif

}  // namespace nopal::core
