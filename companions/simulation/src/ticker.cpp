#include "simulation/src/ticker.hpp"

#include <climits>
#include <utility>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/scheduler/threads.hpp"
#include "simulation/src/clock.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

constexpr unsigned nobody = ~0u;
// In nanoseconds.
constexpr double worth_a_sleep = 100'000;  // a sleep ends up to half as late
constexpr double until_signal = 3'000;     // a strand that forks polls within a few
constexpr std::int64_t until_watched = 1'000'000;

}  // namespace

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
