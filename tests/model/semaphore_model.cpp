// The shipped semaphore under every interleaving and stale value.

#include <gtest/gtest.h>

#include "nopal/core/wait/basic_semaphore.hpp"
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
using semaphore = nopal::core::basic_semaphore<waits>;

bool try_acquire(semaphore& s) {
  return s.try_acquire([&]() noexcept { return s.try_acquire_slowly(); });
}
void acquire(semaphore& s) {
  if (!try_acquire(s)) s.acquire_slowly();
}
bool acquire_until(semaphore& s) { return try_acquire(s) || s.acquire_until(waits::soon); }
void release(semaphore& s, std::ptrdiff_t n = 1) {
  std::ptrdiff_t before;
  if (!s.release_if_quiet(n)) check(s.release_slowly(n, before), "there is room");
}

/// One thread gives a permit; another takes it, and destroys the semaphore.
template <class Taker>
scenario one_taker(char const* name, unsigned threads, bool timer, Taker taker) {
  return waiting(
      name, threads,
      [timer, taker](program& p) {
        auto& s = made<semaphore>(p, 0);
        auto& d = p.make<var<int>>(0);
        p.thread([&] {
          d.set(1);
          release(*s);
        });
        p.thread([&, taker] {
          taker(*s);
          check(d.get() == 1, "who acquires sees what came before the release");
          if (!s->at_rest()) check(s->deserted(), "who has the last permit may destroy it");
          s.reset();
        });
        if (timer) p.thread([] { waits::timer_entry::expire(); });
      },
      timer ? few_spins : 12);
}

/// Used as a mutex, by some.
scenario exclusion(char const* name, int users, unsigned threads = 0) {
  return waiting(
      name, threads,
      [users](program& p) {
        auto& s = p.make<semaphore>(1);
        auto& n = p.make<var<int>>(0);
        for (int k = 0; k < users; ++k) {
          p.thread([&] {
            acquire(s);
            n.set(n.get() + 1);
            release(s);
          });
        }
        p.finally([&, users] {
          check(n.get() == users, "everybody had it");
          check(s.at_rest() && try_acquire(s) && !try_acquire(s), "one permit is left");
        });
      },
      users > 2 ? few_spins : 12);
}

std::vector<scenario> const scenarios{
    one_taker("one permit", 0, false, [](semaphore& s) { acquire(s); }),
    one_taker("one permit for a thread", 2, false, [](semaphore& s) { acquire(s); }),
    one_taker("a limit against the release", 0, true,
              [](semaphore& s) {
                if (!acquire_until(s)) acquire(s);
              }),
    one_taker("a limit of a thread", 2, false,
              [](semaphore& s) {
                if (!acquire_until(s)) acquire(s);
              }),
    exclusion("two exclude each other", 2),
    exclusion("two threads exclude each other", 2, 3),
    exclusion("three exclude each other", 3),
    waiting(
        "two at once", 0,
        [](program& p) {
          auto& s = p.make<semaphore>(0);
          auto& d = p.make<var<int>>(0);
          p.thread([&] {
            d.set(1);
            release(s, 2);
          });
          for (int k = 0; k < 2; ++k) {
            p.thread([&] {
              acquire(s);
              check(d.get() == 1, "both see what came before the release");
            });
          }
          p.finally([&] { check(s.at_rest() && !try_acquire(s), "none is left"); });
        },
        few_spins),
    waiting(
        "two who give, one who takes twice", 0,
        [](program& p) {
          auto& s = p.make<semaphore>(0);
          auto& d = p.make<std::array<var<int>, 2>>();
          for (std::size_t k = 0; k < 2; ++k) {
            p.thread([&, k] {
              d[k].set(1);
              release(s);
            });
          }
          p.thread([&] {
            acquire(s);
            acquire(s);
            check(d[0].get() + d[1].get() == 2, "who has both permits sees both");
          });
        },
        few_spins),
    // A waiter that times out leaves the permit to the other.
    waiting(
        "a limit beside another", 0,
        [](program& p) {
          auto& s = p.make<semaphore>(0);
          auto& got = p.make<std::array<var<int>, 2>>();
          p.thread([&] { release(s); });
          p.thread([&] { got[0].set(acquire_until(s) ? 1 : 0); });
          p.thread([] { waits::timer_entry::expire(); });
          p.finally([&] { check(got[0].get() + (try_acquire(s) ? 1 : 0) == 1, "the permit is somewhere"); });
        },
        few_spins),
    waiting(
        "tries while others are at the queue", 0,
        [](program& p) {
          auto& s = p.make<semaphore>(1);
          auto& n = p.make<var<int>>(0);
          p.thread([&] {
            if (!acquire_until(s)) return;
            n.set(n.get() + 1);
            release(s);
          });
          p.thread([&] {
            if (!try_acquire(s)) return;
            n.set(n.get() + 1);
            release(s);
          });
          p.thread([] { waits::timer_entry::expire(); });
          p.finally([&] { check(try_acquire(s), "the permit is back"); });
        },
        few_spins),
};

std::vector<model::survivor> const known_survivors{};

NOPAL_MODELS_THAT_WAIT(semaphore, "basic_semaphore.hpp", "queued_word.hpp", "spin_lock.hpp", "waiter.hpp")

}  // namespace
