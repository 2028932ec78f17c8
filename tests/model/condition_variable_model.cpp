// The shipped condition variable, with its mutex, under every interleaving and stale value: a lost notification is a deadlock.

#include <gtest/gtest.h>

#include <limits>

#include "nopal/core/wait/basic_mutex.hpp"
#include "waits.hpp"

namespace {

using model::check;
using model::few_spins;
using model::made;
using model::program;
using model::scenario;
using model::var;
using model::waiting;
using model::waits;
using model::who;

/// basic_condition waits with the mutex of its policy.
using mutex = nopal::core::basic_mutex<waits>;
using condition = nopal::core::basic_condition<waits>;

struct place {
  mutex m;
  std::optional<condition> changed{std::in_place};
  var<int> ready{0};

  void lock() {
    if (std::uintptr_t seen; !m.lock_if_free(who(), seen)) m.lock_in_turn(who());
  }
  void unlock() { m.unlock(who()); }
  void notify_one() {
    if (changed->has_waiters()) changed->notify(1);
  }
  void notify_all() {
    if (changed->has_waiters()) changed->notify(std::numeric_limits<std::ptrdiff_t>::max());
  }
  /// As ~condition_variable.
  void destroy() {
    if (!changed->at_rest()) check(changed->wait_for_expired([]() noexcept { model::sync::yield(); }), "nobody waits when it is destroyed");
    changed.reset();
  }

  void consume() {
    lock();
    while (ready.get() == 0) changed->wait(m, who());
    ready.set(ready.get() - 1);
    unlock();
  }
  void produce() {
    lock();
    ready.set(ready.get() + 1);
    unlock();
    notify_one();
  }
};

scenario one_waiter(char const* name, unsigned threads, void (*producer)(place&)) {
  return waiting(name, threads, [producer](program& p) {
    auto& x = p.make<place>();
    p.thread([&] { x.consume(); });
    p.thread([&x, producer] { producer(x); });
    p.finally([&] { check(x.m.at_rest() && x.ready.get() == 0, "it was consumed"); });
  });
}

std::vector<scenario> const scenarios{
    one_waiter("notified after the mutex", 0, [](place& x) { x.produce(); }),
    one_waiter("notified under the mutex", 0,
               [](place& x) {
                 x.lock();
                 x.ready.set(1);
                 x.notify_one();
                 x.unlock();
               }),
    one_waiter("two threads", 3, [](place& x) { x.produce(); }),
    one_waiter("destroyed once all are notified", 0,
               [](place& x) {
                 x.lock();
                 while (!x.changed->has_waiters()) {
                   x.unlock();
                   model::sync::yield();
                   x.lock();
                 }
                 x.ready.set(1);
                 x.notify_all();
                 x.destroy();
                 x.unlock();
               }),
    waiting(
        "a limit of a thread", 1,
        [](program& p) {
          auto& x = p.make<place>();
          p.thread([&] {
            x.lock();
            if (x.ready.get() == 0) x.changed->wait_until(x.m, who(), waits::soon);
            while (x.ready.get() == 0) x.changed->wait(x.m, who());
            x.unlock();
          });
          p.thread([&] { x.produce(); });
        },
        few_spins),
    waiting(
        "a limit against a notification", 0,
        [](program& p) {
          auto& x = p.make<place>();
          p.thread([&] {
            x.lock();
            bool const in_time = x.ready.get() != 0 || x.changed->wait_until(x.m, who(), waits::soon);
            check(!in_time || x.ready.get() == 1, "who is notified sees why");
            x.unlock();
          });
          p.thread([&] { x.produce(); });
          p.thread([] { waits::timer_entry::expire(); });
        },
        few_spins),
    // It may be destroyed though one has timed out and has not returned yet.
    waiting(
        "destroyed beside one that has timed out", 0,
        [](program& p) {
          auto& x = p.make<place>();
          p.thread([&] {
            x.lock();
            if (x.ready.get() == 0) x.changed->wait_until(x.m, who(), waits::soon);
            x.unlock();
          });
          p.thread([&] {
            x.lock();
            x.ready.set(1);
            x.notify_all();
            x.destroy();
            x.unlock();
          });
          p.thread([] { waits::timer_entry::expire(); });
        },
        few_spins),
    waiting(
        "two waiters, all notified", 0,
        [](program& p) {
          auto& x = p.make<place>();
          for (int k = 0; k < 2; ++k) {
            p.thread([&] {
              x.lock();
              while (x.ready.get() == 0) x.changed->wait(x.m, who());
              x.unlock();
            });
          }
          p.thread([&] {
            x.lock();
            x.ready.set(1);
            x.unlock();
            x.notify_all();
          });
        },
        0, 3),
    waiting(
        "two producers", 0,
        [](program& p) {
          auto& x = p.make<place>();
          p.thread([&] {
            x.consume();
            x.consume();
          });
          for (int k = 0; k < 2; ++k) p.thread([&] { x.produce(); });
        },
        0, 3),
};

std::vector<model::survivor> const known_survivors{};

NOPAL_MODELS_THAT_WAIT(condition_variable, "basic_mutex.hpp", "queued_word.hpp", "spin_lock.hpp", "waiter.hpp")

}  // namespace
