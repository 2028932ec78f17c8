// A wait for the first of several objects, as select does with channels: the shipped watcher and watches, beside ordinary waiters.

#include <gtest/gtest.h>

#include <array>

#include "nopal/core/wait/basic_mutex.hpp"
#include "nopal/core/wait/completion.hpp"
#include "waits.hpp"

namespace {

using model::check;
using model::few_spins;
using model::program;
using model::scenario;
using model::var;
using model::waiting;
using model::waits;
using model::who;

using mutex = nopal::core::basic_mutex<waits>;
using condition = nopal::core::basic_condition<waits>;
using watcher = nopal::core::basic_watcher<waits>;
using watch = nopal::core::basic_watch<nopal::core::queued_waiter<waits>, watcher>;

/// As a channel: a producer puts values there; a consumer, or a select, takes them.
struct place {
  mutex m;
  condition changed;
  var<int> ready{0};

  void lock() {
    if (std::uintptr_t seen; !m.lock_if_free(who(), seen)) m.lock_in_turn(who());
  }
  void unlock() { m.unlock(who()); }
  void notify_one() {
    if (changed.has_waiters()) changed.notify(1);
  }

  void produce() {
    lock();
    ready.set(ready.get() + 1);
    unlock();
    notify_one();
  }
  void consume() {
    lock();
    while (ready.get() == 0) changed.wait(m, who());
    ready.set(ready.get() - 1);
    unlock();
  }
  bool take() {
    lock();
    bool const is = ready.get() != 0;
    if (is) ready.set(ready.get() - 1);
    unlock();
    return is;
  }
  bool enter(watch& w, watcher& me) {
    lock();
    bool const waits = ready.get() == 0;
    if (waits) changed.watch(w.begin(me));
    unlock();
    return waits;
  }
  /// False: the watch was woken. The value of that notification may be left for the next.
  bool leave(watch& w) {
    lock();
    bool const withdrawn = changed.unwatch(w);
    if (!withdrawn && ready.get() != 0) notify_one();
    unlock();
    return withdrawn;
  }
};

/// As select: takes one thing from one of them. False: the deadline was first.
template <class Wait>
bool select(std::array<place*, 2> const& from, Wait wait) {
  std::array<watch, 2> watches;
  for (;;) {
    for (place* const p : from) {
      if (p->take()) return true;
    }
    bool in_time = true;
    watcher me;
    std::size_t entered = 0, woken = 0;
    while (entered < from.size() && from[entered]->enter(watches[entered], me)) ++entered;
    if (entered == from.size()) in_time = wait(me);
    for (std::size_t k = 0; k < entered; ++k) woken += from[k]->leave(watches[k]) ? 0 : 1;
    me.absorb(woken);
    if (!in_time) return false;
  }
}
bool select(std::array<place*, 2> const& from) {
  return select(from, [](watcher& me) {
    me.wait("a thing");
    return true;
  });
}

scenario of_two(char const* name, unsigned threads, void (*producers)(program&, place&, place&), int left, int spins = 0, int size = 1) {
  return waiting(
      name, threads,
      [=](program& p) {
        auto& a = p.make<place>();
        auto& b = p.make<place>();
        p.thread([&] { check(select({&a, &b}), "something is taken"); });
        producers(p, a, b);
        p.finally([&a, &b, left] { check(a.ready.get() + b.ready.get() == left, "one thing is taken, and no other is lost"); });
      },
      spins, size);
}

void first(program& p, place& a, place&) {
  p.thread([&] { a.produce(); });
}
void second(program& p, place&, place& b) {
  p.thread([&] { b.produce(); });
}
void both(program& p, place& a, place& b) {
  p.thread([&] {
    a.produce();
    b.produce();
  });
}

std::vector<scenario> const scenarios{
    of_two("the first", 0, first, 0),
    of_two("the second", 0, second, 0),
    of_two("a thread that sleeps", 1, second, 0),
    of_two("both, one after the other", 0, both, 1, few_spins, 2),
    of_two(
        "both, at once", 0,
        [](program& p, place& a, place& b) {
          first(p, a, b);
          second(p, a, b);
        },
        1, few_spins, 3),
    // The watch of the second may take the notification that the consumer waits for, while the select takes the first.
    of_two(
        "beside one that waits for the second", 0,
        [](program& p, place& a, place& b) {
          p.thread([&] { b.consume(); });
          both(p, b, a);
        },
        0, few_spins, 3),
    waiting(
        "a deadline", 0,
        [](program& p) {
          auto& a = p.make<place>();
          auto& b = p.make<place>();
          auto& taken = p.make<var<int>>(0);
          p.thread([&] { taken.set(select({&a, &b}, [](watcher& me) { return me.wait_until(waits::soon, "a thing"); }) ? 1 : 0); });
          p.thread([&] { b.produce(); });
          p.thread([] { waits::timer_entry::expire(); });
          p.finally([&] { check(taken.get() + b.ready.get() == 1, "it is taken, or still there"); });
        },
        few_spins, 3),
};

std::vector<model::survivor> const known_survivors{};

NOPAL_MODELS_THAT_WAIT(watcher, "basic_semaphore.hpp")

}  // namespace
