// The shipped mutex under every interleaving and stale value: two owners would race, a lost wake-up is a deadlock.

#include <gtest/gtest.h>

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

using mutex = nopal::core::basic_mutex<waits>;

void lock(mutex& m) {
  if (std::uintptr_t seen; !m.lock_if_free(who(), seen)) m.lock_in_turn(who());
}
bool try_lock(mutex& m) {
  std::uintptr_t seen;
  return m.lock_if_free(who(), seen) || (!m.is_owned(seen) && m.try_lock_slowly(who()));
}

/// The guarded data.
struct tally {
  mutex m;
  var<int> n{0};
  void once() {
    lock(m);
    n.set(n.get() + 1);
    m.unlock(who());
  }
};

/// Thread i counts up times[i] times. A waiter that was woken `wakeups` times without the lock gets it handed over.
scenario counting(std::string name, unsigned wakeups, std::vector<int> times, unsigned threads = 0) {
  int const spins = times.size() > 2 ? few_spins : 12;
  return waiting(
      std::move(name), threads,
      [times, wakeups](program& p) {
        waits::mutex_wakeups_in_vain = wakeups;
        auto& t = p.make<tally>();
        int sum = 0;
        for (int const n : times) {
          sum += n;
          p.thread([&t, n] {
            for (int k = 0; k < n; ++k) t.once();
          });
        }
        p.finally([&t, sum] {
          check(t.n.get() == sum, "everybody had it");
          check(t.m.at_rest(), "in the end nobody has it or waits");
        });
      },
      spins);
}

scenario the_last_destroys(std::string name, int users, unsigned threads = 0) {
  return waiting(
      std::move(name), threads,
      [users](program& p) {
        auto& t = made<tally>(p);
        for (int k = 0; k < users; ++k) {
          p.thread([&t, users] {
            lock(t->m);
            int const n = t->n.get() + 1;
            t->n.set(n);
            t->m.unlock(who());
            if (n < users) return;
            check(t->m.at_rest(), "it may be destroyed by who had it last");
            t.reset();
          });
        }
      },
      users > 2 ? few_spins : 12, users - 1);
}

std::vector<scenario> const scenarios{
    counting("two", 1, {1, 1}),
    counting("two, handed over", 0, {1, 1}),
    counting("two, as threads", 1, {1, 1}, 3),
    counting("one of two comes again", 1, {2, 1}),
    counting("one of two comes again, handed over", 0, {2, 1}),
    counting("three", 1, {1, 1, 1}),
    counting("three, handed over", 0, {1, 1, 1}),
    the_last_destroys("the last of two destroys it", 2),
    the_last_destroys("the last of three destroys it", 3),
    waiting("one only tries", 0,
            [](program& p) {
              auto& t = p.make<tally>();
              p.thread([&] { t.once(); });
              p.thread([&] {
                if (!try_lock(t.m)) return;
                t.n.set(t.n.get() + 1);
                t.m.unlock(who());
              });
              p.finally([&] { check(t.m.at_rest(), "in the end nobody has it or waits"); });
            }),
    waiting(
        "one of three only tries", 0,
        [](program& p) {
          auto& t = p.make<tally>();
          for (int k = 0; k < 2; ++k) p.thread([&] { t.once(); });
          p.thread([&] {
            if (!try_lock(t.m)) return;
            t.n.set(t.n.get() + 1);
            t.m.unlock(who());
          });
          p.finally([&] { check(t.m.at_rest(), "in the end nobody has it or waits"); });
        },
        few_spins),
};

std::vector<model::survivor> const known_survivors{};

NOPAL_MODELS_THAT_WAIT(mutex, "basic_mutex.hpp", "queued_word.hpp", "spin_lock.hpp")

}  // namespace
