// The shipped barrier under every interleaving and stale value.

#include <gtest/gtest.h>

#include "nopal/core/wait/basic_counter.hpp"
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
using barrier = nopal::core::basic_barrier<waits>;

/// Arrives for one; the last runs `completion`. Returns the phase.
template <class Completion>
std::uint64_t arrive(barrier& b, Completion completion, std::ptrdiff_t dropped = 0) {
  auto const [phase, pending] = b.arrive(1, dropped);
  check(pending >= 1, "nobody arrives who was not expected");
  if (pending == 1) {
    completion();
    b.complete();
  }
  return phase;
}

/// What each thread writes before it arrives, and what the completion reads.
struct work {
  std::array<var<int>, 3> done;
  var<int> sum{0};
};

/// Some threads meet `phases` times. Thread i waits with a time limit if bit i of `limited` is set, and again without one if that expired.
scenario meeting(char const* name, int users, int phases, unsigned threads = 0, unsigned limited = 0, bool timer = false) {
  return waiting(
      name, threads,
      [=](program& p) {
        auto& b = p.make<barrier>(users);
        auto& w = p.make<work>();
        for (int k = 0; k < users; ++k) {
          p.thread([&b, &w, k, users, phases, limited] {
            auto& mine = w.done[static_cast<std::size_t>(k)];
            for (int n = 1; n <= phases; ++n) {
              mine.set(n);
              auto const phase = arrive(b, [&] {
                int sum = w.sum.get();
                for (int i = 0; i < users; ++i) sum += w.done[static_cast<std::size_t>(i)].get();
                w.sum.set(sum);
              });
              if ((limited >> k & 1) == 0 || !b.wait_until(phase, waits::soon, "a barrier")) b.wait(phase);
              check(w.sum.get() == users * n * (n + 1) / 2, "who has waited sees what the completion saw and did");
            }
          });
        }
        if (timer) p.thread([] { waits::timer_entry::expire(); });
        p.finally([&] { check(b.at_rest(), "in the end nobody waits"); });
      },
      users + (timer ? 1 : 0) > 2 || phases > 1 ? few_spins : 12);
}

std::vector<scenario> const scenarios{
    meeting("two", 2, 1),
    meeting("two threads", 2, 1, 3),
    meeting("two meet twice", 2, 2),
    meeting("three", 3, 1),
    meeting("two, one with a limit", 2, 1, 0, 1, true),
    meeting("two threads with a limit", 2, 1, 3, 3),
    waiting("one only arrives, who waits destroys", 0,
            [](program& p) {
              auto& b = made<barrier>(p, 2);
              auto& d = p.make<var<int>>(0);
              p.thread([&] {
                d.set(1);
                arrive(*b, [] {});
              });
              p.thread([&] {
                b->wait(arrive(*b, [] {}));
                check(d.get() == 1, "who waits sees what came before each arrival");
                if (!b->at_rest()) check(b->deserted(), "who has waited may destroy it");
                b.reset();
              });
            }),
    waiting("one is not expected again", 0,
            [](program& p) {
              auto& b = p.make<barrier>(2);
              auto& d = p.make<var<int>>(0);
              p.thread([&] {
                d.set(1);
                arrive(b, [] {}, 1);
              });
              p.thread([&] {
                b.wait(arrive(b, [] {}));
                check(d.get() == 1, "who waits sees what came before each arrival");
                b.wait(arrive(b, [&] { d.set(2); }));
                check(d.get() == 2, "the second phase is of one");
              });
              p.finally([&] { check(b.at_rest(), "in the end nobody waits"); });
            }),
};

std::vector<model::survivor> const known_survivors{};

NOPAL_MODELS_THAT_WAIT(barrier, "basic_counter.hpp", "queued_word.hpp", "spin_lock.hpp")

}  // namespace
