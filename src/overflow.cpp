#include "nopal/core/overflow.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "nopal/core/stack.hpp"
#include "nopal/core/worker.hpp"

namespace nopal::core {

#if NOPAL_ASAN || NOPAL_TSAN

void watch_for_overflow() noexcept {}
void prepare_thread_for_overflow() noexcept {}

#else

namespace {

struct sigaction before_segv, before_bus;

/// Only what a signal handler may call.
class message {
 public:
  void add(std::string_view s) noexcept {
    for (char const c : s)
      if (size_ < text_.size()) text_[size_++] = c;
  }
  void add(std::uint64_t n, int base = 10) noexcept {
    auto const r = std::to_chars(text_.data() + size_, text_.data() + text_.size(), n, base);
    size_ = static_cast<std::size_t>(r.ptr - text_.data());
  }
  void print() const noexcept {
    if (::write(STDERR_FILENO, text_.data(), size_) < 0) return;  // nowhere to say so
  }

 private:
  std::array<char, 512> text_;
  std::size_t size_ = 0;
};

void on_fault(int signal, siginfo_t* info, void* where) {
  if (state_here()->works()) {
    auto const& w = static_cast<worker const&>(*state_here());
    stack const& s = *w.here;
    if (s.guards(info->si_addr)) {
      message m;
      m.add("nopal: stack overflow: the native stack at 0x");
      m.add(reinterpret_cast<std::uintptr_t>(s.base()), 16);
      m.add(" of worker ");
      m.add(w.index());
      m.add(" is full, all of its ");
      m.add(s.mapped());
      m.add(" bytes; recurse less deeply in ordinary functions, or raise pool_options::stack_size\n");
      m.print();
      ::signal(SIGABRT, SIG_DFL);
      std::abort();
    }
  }
  struct sigaction const& before = signal == SIGBUS ? before_bus : before_segv;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, where);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  ::sigaction(signal, &before, nullptr);  // the fault happens again, and ends the program as it would have
}

// A thread's stack for its signal handlers belongs to a thread key. A thread_local object with a destructor would do, but where the C
// library finds no memory to note that destructor it ends the program.
constexpr std::size_t handler_bytes = 32 * 1024;
pthread_key_t handler_key;
bool have_key = false;  // once watch_for_overflow has returned

// When the thread ends.
void give_back(void* memory) noexcept {
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0) return;
  if (now.ss_sp == memory) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (::sigaltstack(&none, nullptr) != 0) return;
  }
  std::free(memory);
}

void take_handler_stack() noexcept {
  stack_t now{};
  if (!have_key || ::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;  // or it has one
  stack_t mine{};
  mine.ss_sp = std::malloc(handler_bytes);
  mine.ss_size = handler_bytes;
  if (mine.ss_sp == nullptr) return;
  if (::pthread_setspecific(handler_key, mine.ss_sp) != 0) return std::free(mine.ss_sp);
  if (::sigaltstack(&mine, nullptr) == 0) return;
  ::pthread_setspecific(handler_key, nullptr);
  std::free(mine.ss_sp);
}

}  // namespace

void watch_for_overflow() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    have_key = ::pthread_key_create(&handler_key, give_back) == 0;
    struct sigaction mine{};
    mine.sa_sigaction = on_fault;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&mine.sa_mask);
    ::sigaction(SIGSEGV, &mine, &before_segv);
    ::sigaction(SIGBUS, &mine, &before_bus);
  });
}

void prepare_thread_for_overflow() noexcept {
  static constinit thread_local bool prepared = false;
  if (!std::exchange(prepared, true)) take_handler_stack();
}

#endif

}  // namespace nopal::core
