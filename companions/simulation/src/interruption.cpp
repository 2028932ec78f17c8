#include "simulation/src/interruption.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/architecture/system_call.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/scheduler/threads.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

constexpr int interruption = SIGURG;

// On a worker's thread, at any point of what the thread does.
void on_interruption(int, siginfo_t* why, void* context) {
  int const before = errno;
  if (virtual_time* const v = virtual_time::here(); v != nullptr && v->may_be_interrupted()) {
    v->interrupted(waits_at_futex(context), why->si_code == SI_TIMER);
  }
  errno = before;
}

// Measures how long an alarm stops its thread.
class gap final : public virtual_time {
 public:
  std::uint64_t ticks(thread_alarm& alarm) noexcept {
    came_ = false;
    alarm.set(20'000);
    std::uint64_t before = 0, now = clock_ticks();
    for (std::uint64_t const begun = now; !came_ && now - begun < patience; now = clock_ticks()) before = now;
    return clock_ticks() - before;
  }
  std::int64_t now() noexcept override { return 0; }
  void relax() noexcept override {}
  void yield() noexcept override {}
  void sleep(std::int64_t) noexcept override {}
  void wait(std::atomic<std::uint32_t>&, std::uint32_t, std::int64_t) noexcept override {}
  void come_in_order() noexcept override {}
  void interrupted(bool, bool) noexcept override { came_ = true; }

 private:
  static constexpr std::uint64_t patience = 100'000'000;  // ticks, if no signal arrives
  bool volatile came_ = false;
};

// ---- The ticker.

constexpr unsigned nobody = ~0u;
// In nanoseconds.
constexpr double worth_a_sleep = 100'000;  // a sleep ends up to half as late
constexpr double until_signal = 3'000;     // a strand that forks polls within a few
constexpr std::int64_t until_watched = 1'000'000;

}  // namespace

static std::int64_t measure_alarm(double ticks_in_a_nanosecond) noexcept {
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  let_interrupt_this_thread();
  thread_alarm alarm;
  alarm.begin(static_cast<pid_t>(::syscall(SYS_gettid)));
  gap g;
  virtual_time* const its = virtual_time::here();
  virtual_time::set_here(&g);
  std::array<std::uint64_t, 15> all{};
  if (alarm.is_there()) {
    for (std::uint64_t& t : all) t = g.ticks(alarm);
  }
  alarm.end();
  virtual_time::set_here(its);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::ranges::sort(all);
  return static_cast<std::int64_t>(static_cast<double>(all[all.size() / 2]) / ticks_in_a_nanosecond);
}

// No static variable with a guard: one that another thread has taken, and a fork has copied, is never free. Of several threads that
// measure, the first decides for all. relaxed: only the number matters.
std::int64_t cost_of_alarm(double ticks_in_a_nanosecond) noexcept {
  constexpr std::int64_t unknown = -1;
  static constinit std::atomic<std::int64_t> known{unknown};
  std::int64_t cost = known.load(std::memory_order_relaxed);
  if (cost != unknown) return cost;
  std::int64_t const mine = measure_alarm(ticks_in_a_nanosecond);
  return known.compare_exchange_strong(cost, mine, std::memory_order_relaxed) ? mine : cost;
}

bool is_asleep(int thread) noexcept {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), "/proc/self/task/%d/stat", thread);
  int const f = ::open(text.data(), O_RDONLY | O_CLOEXEC);
  if (f < 0) return false;
  ssize_t const n = ::read(f, text.data(), text.size() - 1);
  ::close(f);
  if (n <= 0) return false;
  text[static_cast<std::size_t>(n)] = '\0';
  char const* const behind_name = std::strrchr(text.data(), ')');  // of "number (name) state …"
  return behind_name != nullptr && std::strlen(behind_name) > 2 && behind_name[2] == 'S';
}

// Without a guard, as cost_of_alarm: a second call of sigaction does no harm.
void take_interruptions() noexcept {
  static constinit std::atomic<bool> handled{false};
  if (handled.load(std::memory_order_acquire)) return;  // acquire: pairs with the release below, for the handler
  struct sigaction s{};
  s.sa_sigaction = on_interruption;
  s.sa_flags = SA_RESTART | SA_ONSTACK | SA_SIGINFO;
  static_cast<void>(::sigaction(interruption, &s, nullptr));
  handled.store(true, std::memory_order_release);
}

void let_interrupt_this_thread() noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, interruption);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

static constexpr long again = 50'000;  // nanoseconds: a thread that holds a lock when the signal arrives continues, and needs another

void thread_alarm::begin(pid_t thread) noexcept {
  sigevent e{};
  e.sigev_notify = SIGEV_THREAD_ID;
  e.sigev_signo = interruption;
  e._sigev_un._tid = thread;
  is_there_ = ::timer_create(CLOCK_MONOTONIC, &e, &id_) == 0;
}

void thread_alarm::end() noexcept {
  if (is_there_) ::timer_delete(id_);
  is_there_ = is_set_ = false;
}

void thread_alarm::set(std::int64_t nanoseconds) noexcept {
  is_paused_ = false;
  if (is_there_) set_to(std::max<std::int64_t>(1, nanoseconds));
}

void thread_alarm::set_to(std::int64_t nanoseconds) noexcept {
  is_set_ = nanoseconds != 0;
  timespec const first{static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
  itimerspec const t{{0, is_set_ ? again : 0}, first};
  static_cast<void>(::timer_settime(id_, 0, &t, nullptr));
}

void interrupt(pthread_t thread) noexcept { static_cast<void>(::pthread_kill(thread, interruption)); }

// ---- The ticker.

ticker::ticker(hands h, std::vector<int> const& cpus, bool spins, double ticks_in_a_nanosecond)
    : hands_{std::move(h)}, spins_{spins}, ticks_{ticks_in_a_nanosecond}, worker_{nobody} {
  only_own_signals const until_it_has_begun;
  thread_ = std::thread{[this, cpus] { run(cpus); }};
}

ticker::~ticker() {
  ends_.store(true, std::memory_order_seq_cst);
  set(nobody, never);
  thread_.join();
}

std::int64_t ticker::used() noexcept {
  clockid_t its{};
  return ::pthread_getcpuclockid(thread_.native_handle(), &its) == 0 ? stopwatch::used(its) : 0;
}

void ticker::set(unsigned worker, std::uint64_t due) noexcept {
  // As a seqlock's writer. release: with the fence, no store below is seen without the odd number.
  std::uint32_t const before = epoch_.load(std::memory_order_relaxed);  // relaxed: only this thread writes it now
  epoch_.store(before + 1, std::memory_order_relaxed);                  // relaxed: the fence follows
  std_sync::fence();                                                    // pairs with the acquire of epoch_ in run
  worker_.store(worker, std::memory_order_relaxed);                     // relaxed: the epoch brings it
  due_.store(due, std::memory_order_relaxed);                           // relaxed: the epoch brings it
  epoch_.store(before + 2, std::memory_order_seq_cst);                  // before the read of sleeps_: pairs with run
  if (sleeps_.load(std::memory_order_seq_cst)) wake_up(epoch_, INT_MAX);
}

// Waits until the time has come: true; or until another has the turn: false.
bool ticker::wait_until(std::uint64_t ticks, std::uint32_t epoch) noexcept {
  for (;;) {
    if (epoch_.load(std::memory_order_acquire) != epoch) return false;  // acquire: pairs with set
    std::uint64_t const now = clock_ticks();
    if (now >= ticks) return true;
    double const left = static_cast<double>(ticks - now) / ticks_;
    if (spins_ && left < worth_a_sleep) {
      cpu_relax();
      continue;
    }
    double const sleeps = spins_ ? left - worth_a_sleep / 2 : left;
    sleeps_.store(true, std::memory_order_seq_cst);  // before the kernel reads the epoch: pairs with set
    sleep_on(epoch_, epoch, static_cast<std::int64_t>(sleeps));
    sleeps_.store(false, std::memory_order_relaxed);  // relaxed: a needless wake-up is harmless
  }
}

// The worker was asked, and still has the turn: it may wait for another one.
void ticker::watch(unsigned worker, std::uint32_t epoch) noexcept {
  while (epoch_.load(std::memory_order_acquire) == epoch) {  // acquire: pairs with set
    sleeps_.store(true, std::memory_order_seq_cst);          // as in wait_until
    sleep_on(epoch_, epoch, until_watched);
    sleeps_.store(false, std::memory_order_relaxed);  // relaxed: as in wait_until
    if (epoch_.load(std::memory_order_acquire) == epoch && worker != nobody && hands_.unblock(worker)) return;
  }
}

void ticker::run(std::vector<int> const& cpus) noexcept {
  keep_to_cpus(cpus);
  for (;;) {
    std::uint32_t const epoch = epoch_.load(std::memory_order_acquire);  // acquire: pairs with set
    if (ends_.load(std::memory_order_seq_cst)) return;                   // after the epoch, which the destructor changes last
    if (epoch % 2 != 0) continue;
    unsigned const worker = worker_.load(std::memory_order_relaxed);  // relaxed: read again below, if the epoch says so
    std::uint64_t const due = due_.load(std::memory_order_relaxed);   // relaxed: as above
    std_sync::fence();                                                // pairs with the fence in set
    if (epoch_.load(std::memory_order_relaxed) != epoch) continue;    // relaxed: the fence
    if (due != never) {
      if (!wait_until(due, epoch)) continue;
      if (worker == nobody) {
        hands_.rested();
        continue;
      }
      hands_.ask(worker);
      if (!wait_until(due + static_cast<std::uint64_t>(until_signal * ticks_), epoch)) continue;
      hands_.interrupt(worker);
    }
    watch(worker, epoch);
  }
}

}  // namespace nopal::core
