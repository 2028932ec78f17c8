// The handler only writes to an event file; a thread of the library reads the file and prints.

#include "nopal/core/report/report.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "base/read_text.hpp"
#include "nopal/core/base/process.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/threads.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

struct named_signal {
  std::string_view name;
  int number;
};
// The signals that a program may use for this: none that a thread causes itself, and none that cannot be handled.
constexpr std::array allowed{
    named_signal{"USR1", SIGUSR1},   named_signal{"USR2", SIGUSR2}, named_signal{"HUP", SIGHUP},   named_signal{"INT", SIGINT},
    named_signal{"QUIT", SIGQUIT},   named_signal{"TERM", SIGTERM}, named_signal{"ALRM", SIGALRM}, named_signal{"VTALRM", SIGVTALRM},
    named_signal{"PROF", SIGPROF},   named_signal{"PIPE", SIGPIPE}, named_signal{"CHLD", SIGCHLD}, named_signal{"CONT", SIGCONT},
    named_signal{"TSTP", SIGTSTP},   named_signal{"TTIN", SIGTTIN}, named_signal{"TTOU", SIGTTOU}, named_signal{"URG", SIGURG},
    named_signal{"XCPU", SIGXCPU},   named_signal{"XFSZ", SIGXFSZ}, named_signal{"IO", SIGIO},     named_signal{"PWR", SIGPWR},
    named_signal{"WINCH", SIGWINCH},
};

bool is_allowed(int n) noexcept {
  if (n >= SIGRTMIN && n <= SIGRTMAX) return true;
  for (named_signal const& s : allowed) {
    if (s.number == n) return true;
  }
  return false;
}

/// The number of a name such as RTMIN, RTMIN+3 or RTMAX-1. 0: it is not such a name.
int real_time_signal(std::string_view name) noexcept {
  bool const up = name.starts_with("RTMIN");
  if (!up && !name.starts_with("RTMAX")) return 0;
  int by = 0;
  if (name.size() > 5 && (name[5] != (up ? '+' : '-') || !read_all(name.substr(6), by) || by < 0 || by > SIGRTMAX - SIGRTMIN)) return 0;
  return up ? SIGRTMIN + by : SIGRTMAX - by;
}

// ---- The handler.

constinit std::atomic<int> events{-1};     // the file that it writes to; -1: no thread would read it
int taken = 0;                             // the signal; written before the handler is installed
struct sigaction before{};                 // likewise
constinit std::atomic<bool> spent{false};  // the handler before was for one signal only (SA_RESETHAND), and has been called

// A flag may be the sign bit of an int, hence the unsigned.
bool has(struct sigaction const& a, unsigned flag) noexcept { return (static_cast<unsigned>(a.sa_flags) & flag) != 0; }
bool is_default_or_ignored(struct sigaction const& a) noexcept { return a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN; }

// Any thread, at any time. Last it calls the handler that was there before, as the kernel would. If there was none, the signal only
// requests a report.
void on_signal(int signal, siginfo_t* info, void* where) {
  int const error = errno;
  // relaxed: the file was opened before the handler was installed, and only its number is read.
  if (int const file = events.load(std::memory_order_relaxed); file >= 0) {
    std::uint64_t const one = 1;
    static_cast<void>(::write(file, &one, sizeof one) == 0);  // it would block only at 2^64 - 2 unread signals
  }
  errno = error;
  if (is_default_or_ignored(before)) return;
  // relaxed: only one thread must find it false.
  if (has(before, SA_RESETHAND) && spent.exchange(true, std::memory_order_relaxed)) return;
  if (has(before, SA_SIGINFO)) return before.sa_sigaction(signal, info, where);
  before.sa_handler(signal);
}

void install() {
  if (::sigaction(taken, nullptr, &before) != 0)
    throw std::system_error{errno, std::generic_category(), "nopal::pool: NOPAL_REPORT: sigaction"};
  struct sigaction ours{};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (is_default_or_ignored(before)) {
    ::sigemptyset(&ours.sa_mask);
    ours.sa_flags |= SA_RESTART;  // a report interrupts no system call
  } else {
    ours.sa_mask = before.sa_mask;
    ours.sa_flags |= before.sa_flags & (SA_RESTART | SA_NODEFER);
  }
  ::sigaction(taken, &ours, nullptr);
}

// ---- The thread.

void print(std::string const& text) noexcept {
  for (std::size_t done = 0; done < text.size();) {
    ::ssize_t const n = ::write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

void report_all() noexcept {
  try {
    std::string text = "nopal: NOPAL_REPORT, on signal " + std::to_string(taken) + ":\n";
    live_pool::for_each([&](pool_state const& p) {
      if (!p.has_threads()) return;  // its threads are in the parent of a fork, or shutdown has ended them
      std::string const lines = report(p);
      if (lines == "nothing waits\n") text += "the pool " + p.name + ": ";
      text += lines;
    });
    print(text + "nopal: end of report\n");
  } catch (std::exception const&) {
    print("nopal: there is no memory for a report\n");
  }
}

void serve(int file) noexcept {
  take_own_signals();
  name_this_thread("nopal", "report");
  for (std::uint64_t asked = 0;;) {
    ::ssize_t const n = ::read(file, &asked, sizeof asked);
    if (n == static_cast<::ssize_t>(sizeof asked)) {
      report_all();
    } else if (n >= 0 || errno != EINTR) {
      return;
    }
  }
}

constinit std::mutex beginning;
unsigned begun_in = 0;  // the process_number of the process that has the thread; 0: none

}  // namespace

int report_signal(std::string_view text) {
  std::string_view const name = text.starts_with("SIG") ? text.substr(3) : text;
  int n = 0;
  for (named_signal const& s : allowed) {
    if (s.name == name) n = s.number;
  }
  if (n == 0) n = real_time_signal(name);
  if (n == 0 && name.size() == text.size() && !read_all(text, n)) n = 0;
  if (is_allowed(n)) return n;
  throw std::invalid_argument{"nopal::pool: NOPAL_REPORT = \"" + std::string{text} +
                              "\" is no signal that a report can be asked for with; write a name, or a number of at most " +
                              std::to_string(SIGRTMAX) + ", of one that the program does not need for faults, such as USR1"};
}

// The thread lives as long as the process, as the handler does: the object with their code stays loaded.
void begin_reports_on_signal() {
  char const* const text = ::secure_getenv("NOPAL_REPORT");  // NOLINT(concurrency-mt-unsafe): it must not change during the call
  if (text == nullptr || *text == '\0') return;
  int const wanted = report_signal(text);
  std::lock_guard const guard{beginning};
  if (begun_in == process_number) return;
  int const file = ::eventfd(0, EFD_CLOEXEC);
  if (file < 0)
    throw std::system_error{errno, std::generic_category(), "nopal::pool: no file descriptor for NOPAL_REPORT; raise RLIMIT_NOFILE"};
  try {
    only_own_signals const until_it_has_begun;
    std::thread{serve, file}.detach();
  } catch (std::system_error const& e) {
    ::close(file);
    throw std::system_error{e.code(), "nopal::pool: no thread for NOPAL_REPORT; raise the limit on threads"};
  }
  begun_in = process_number;
  events.store(file, std::memory_order_relaxed);  // relaxed: as in on_signal
  if (taken != 0) return;                         // in the child of a fork: the handler is the parent's
  taken = wanted;
  install();
}

void before_fork_of_reports() noexcept { beginning.lock(); }
void after_fork_of_reports(bool in_child) noexcept {
  // The parent would read what a handler in the child writes to this file. relaxed: the child has one thread.
  if (int const file = in_child ? events.exchange(-1, std::memory_order_relaxed) : -1; file >= 0) ::close(file);
  beginning.unlock();
}

}  // namespace nopal::core
