// The window of a lost wake-up, forced step by step: one side does its whole operation after the k-th step of the other, for every k, on
// real threads and fibers, with the shipped protocols and the shipped await_wake. A step is an atomic operation on the word. No side may
// sleep for ever.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_counter.hpp"
#include "nopal/core/wait/basic_mutex.hpp"
#include "nopal/core/wait/basic_semaphore.hpp"
#include "nopal/pool.hpp"

namespace {

using namespace std::chrono_literals;
namespace core = nopal::core;

/// The step at which one side stops, and lets the other run.
class breakpoint {
 public:
  breakpoint(int step, std::function<void()> other) : left_{step}, other_{std::move(other)} {}

  /// Before each step of the side that stops.
  void pass() {
    if (left_-- != 0) return;
    reached_ = true;
    other_();
  }
  bool reached() const noexcept { return reached_; }

 private:
  int left_;
  std::function<void()> other_;
  bool reached_ = false;
};

thread_local breakpoint* mine = nullptr;  // belongs to the thread, not the stack: a waiter publishes itself from another stack

/// Set if this side waits for a lock that the stopped side holds: it cannot do its whole operation at this step.
thread_local std::atomic<bool>* blocked = nullptr;

void step() {
  if (mine != nullptr) mine->pass();
}

struct stepped_sync : core::std_sync {
  template <class T>
  struct atomic : private std::atomic<T> {
    using base = std::atomic<T>;
    using base::base;
    T load(std::memory_order o) const noexcept {
      step();
      return base::load(o);
    }
    void store(T v, std::memory_order o) noexcept {
      step();
      base::store(v, o);
    }
    T exchange(T v, std::memory_order o) noexcept {
      step();
      return base::exchange(v, o);
    }
    T fetch_add(T v, std::memory_order o) noexcept {
      step();
      return base::fetch_add(v, o);
    }
    T fetch_sub(T v, std::memory_order o) noexcept {
      step();
      return base::fetch_sub(v, o);
    }
    T fetch_or(T v, std::memory_order o) noexcept {
      step();
      return base::fetch_or(v, o);
    }
    T fetch_and(T v, std::memory_order o) noexcept {
      step();
      return base::fetch_and(v, o);
    }
    bool compare_exchange_strong(T& e, T v, std::memory_order o, std::memory_order f) noexcept {
      step();
      return base::compare_exchange_strong(e, v, o, f);
    }
    bool compare_exchange_weak(T& e, T v, std::memory_order o, std::memory_order f) noexcept {
      step();
      return base::compare_exchange_strong(e, v, o, f);
    }
  };
  static void relax() noexcept { yield(); }
  static void yield() noexcept {
    if (blocked != nullptr) *blocked = true;
    std_sync::yield();
  }
  static void give_way(int) noexcept { yield(); }
};

/// Set if this side is about to sleep.
thread_local std::atomic<bool>* asleep = nullptr;

/// The shipped wait, which also reports when it is about to sleep.
struct stepped_waits {
  using sync = stepped_sync;
  struct waiter : core::basic_waiter<stepped_sync, core::sleeper> {};
  using timer_entry = core::timer_entry;
  using time_point = core::time_point;
  static constexpr unsigned mutex_wakeups_in_vain = 2;
  static constexpr int mutex_spins = 0;
  static void start(timer_entry& e) noexcept { e.start(); }
  template <class Publish>
  static void await_wake(waiter& me, core::waits_for why, Publish publish) noexcept {
    auto* const says = asleep;
    core::await_wake(me, why, [=]() noexcept {
      bool const sleeps = publish();
      if (sleeps && says != nullptr) *says = true;  // its stack is suspended already
      return sleeps;
    });
  }
};

/// The two sides of a wait. Each runs on a thread of its own, or the waiter in a fiber.
struct sides {
  std::function<void()> waits;
  std::function<void()> wakes;
};

constexpr auto too_long = 20s;

bool comes_true(std::function<bool()> const& what) {
  for (auto const end = std::chrono::steady_clock::now() + too_long; !what(); std::this_thread::yield()) {
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

/// Runs the waker's whole operation before step k of the waiter (`waiter_stops`), or the waiter's, up to its sleep, before step k of the
/// waker. False: there is no step k.
bool one_order(nopal::pool* pool, sides const& s, bool waiter_stops, int k) {
  std::atomic<bool> go{false}, blocks{false}, waiter_sleeps{false}, waker_sleeps{false}, waiter_ended{false}, waker_ended{false};
  auto const let_other_go = [&] {
    auto const& ended = waiter_stops ? waker_ended : waiter_ended;
    auto const& sleeps = waiter_stops ? waker_sleeps : waiter_sleeps;
    go = true;
    // It does its whole operation, or as much as it can while this side holds the lock that it needs.
    EXPECT_TRUE(comes_true([&] { return ended || sleeps || blocks; })) << "step " << k << ": the other side makes no progress";
  };
  breakpoint stop{k, let_other_go};
  auto const side = [&](bool stops, std::function<void()> const& act, std::atomic<bool>& sleeps, std::atomic<bool>& ended) {
    if (!stops && !comes_true([&] { return go.load(); })) ADD_FAILURE() << "the other side has not begun";
    mine = stops ? &stop : nullptr;
    blocked = stops ? nullptr : &blocks;
    asleep = &sleeps;
    act();
    mine = nullptr;
    blocked = nullptr;
    asleep = nullptr;
    if (stops) go = true;  // there was no step k
    ended = true;
  };
  std::thread waker{[&] { side(!waiter_stops, s.wakes, waker_sleeps, waker_ended); }};
  std::thread waiter;
  auto const wait = [&] { side(waiter_stops, s.waits, waiter_sleeps, waiter_ended); };
  if (pool == nullptr) {
    waiter = std::thread{wait};
  } else {
    pool->detach(wait);
  }
  if (waiter_stops && !comes_true([&] { return waiter_ended || waiter_sleeps || go; })) {
    ADD_FAILURE() << "step " << k << ": nothing happens";
  }
  if (waiter_stops && waiter_sleeps) go = true;  // it sleeps before it reaches a step k: now the waker runs
  bool const awake = comes_true([&] { return waiter_ended && waker_ended; });
  EXPECT_TRUE(awake) << "a wake-up was lost: "
                     << (waiter_stops ? "the other's whole operation before step " : "all of the wait before step ") << k
                     << (waiter_stops ? " of the wait" : " of the other");
  if (!awake) std::abort();  // those threads never end
  waker.join();
  if (waiter.joinable()) waiter.join();
  return stop.reached();
}

void every_order(std::function<sides()> const& make, int least_of_waiter, int least_of_waker) {
  nopal::pool pool{{.workers = 1}};
  for (nopal::pool* const on : {static_cast<nopal::pool*>(nullptr), &pool}) {
    for (bool const waiter_stops : {true, false}) {
      int k = 0;
      while (one_order(on, make(), waiter_stops, k)) ++k;
      EXPECT_GE(k, waiter_stops ? least_of_waiter : least_of_waker) << "fewer steps than it takes";
    }
  }
}

using counter = core::basic_counter<stepped_waits>;
using mutex = core::basic_mutex<stepped_waits>;
using condition = core::basic_condition<stepped_waits>;
using semaphore = core::basic_semaphore<stepped_waits>;

constexpr std::uintptr_t waiter_id = 8, waker_id = 16;
void lock(mutex& m, std::uintptr_t who) {
  if (std::uintptr_t seen; !m.lock_if_free(who, seen)) m.lock_in_turn(who);
}

TEST(lost_wakeup, counter) {
  every_order(
      [] {
        auto const c = std::make_shared<counter>(1);
        return sides{[c] { c->wait(0); },
                     [c] {
                       if (!c->done_if_quiet(1)) c->done_slowly(1);
                     }};
      },
      5, 2);
}

TEST(lost_wakeup, counter_with_another_target) {
  every_order(
      [] {
        auto const c = std::make_shared<counter>(2);
        return sides{[c] { c->wait(1); },
                     [c] {
                       if (!c->done_if_quiet(1)) c->done_slowly(1);
                     }};
      },
      5, 2);
}

TEST(lost_wakeup, mutex) {
  every_order(
      [] {
        auto const m = std::make_shared<mutex>();
        lock(*m, waker_id);
        return sides{[m] {
                       lock(*m, waiter_id);
                       m->unlock(waiter_id);
                     },
                     [m] { m->unlock(waker_id); }};
      },
      3, 1);
}

TEST(lost_wakeup, semaphore) {
  every_order(
      [] {
        auto const s = std::make_shared<semaphore>(0);
        return sides{[s] {
                       if (!s->try_acquire([&]() noexcept { return s->try_acquire_slowly(); })) s->acquire_slowly();
                     },
                     [s] {
                       std::ptrdiff_t before;
                       if (!s->release_if_quiet(1)) s->release_slowly(1, before);
                     }};
      },
      3, 2);
}

TEST(lost_wakeup, condition_variable) {
  every_order(
      [] {
        struct place {
          mutex m;
          condition changed;
          bool ready = false;
        };
        auto const p = std::make_shared<place>();
        return sides{[p] {
                       lock(p->m, waiter_id);
                       while (!p->ready) p->changed.wait(p->m, waiter_id);
                       p->m.unlock(waiter_id);
                     },
                     [p] {
                       lock(p->m, waker_id);
                       p->ready = true;
                       p->m.unlock(waker_id);
                       if (p->changed.has_waiters()) p->changed.notify(1);
                     }};
      },
      6, 3);
}

}  // namespace
