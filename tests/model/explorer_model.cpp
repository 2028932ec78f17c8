// The explorer itself: it finds races and lost wake-ups, loops that wait end, and the executions that it leaves out have no new outcome.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../scale.hpp"
#include "explorer.hpp"
#include "litmus.hpp"

namespace {

using model::atomic;
using model::litmus;
using model::order;
using model::program;
using model::sync;
using model::var;
using enum std::memory_order;

TEST(litmus, a_race_on_plain_data_is_found) {
  for (order const o : {relaxed, release}) {
    model::result const r = model::explore({}, [=](program& p) {
      auto& x = p.make<atomic<int>>(0);
      auto& d = p.make<var<int>>(0, "the message");
      p.thread([=, &x, &d] {
        d.set(1);
        x.store(1, o);
      });
      p.thread([&] {
        if (x.load(acquire) == 1) model::check(d.get() == 1, "received");
      });
    });
    EXPECT_EQ(r.ok(), o == release) << r.report();
    EXPECT_EQ(r.failure.find("the message") != std::string::npos, o == relaxed);
  }
}

TEST(litmus, a_lost_wake_up_is_a_deadlock_and_can_be_replayed) {
  for (bool const looks_again : {true, false}) {
    auto const body = [=](program& p) {
      auto& ready = p.make<atomic<int>>(0);
      auto& asleep = p.make<atomic<std::uint32_t>>(0U);
      p.thread([=, &ready, &asleep] {
        if (!looks_again && ready.load(seq_cst) == 1) return;
        asleep.store(1, seq_cst);
        if (looks_again && ready.load(seq_cst) == 1) return;
        while (asleep.load(acquire) == 1) sync::wait(asleep, 1);
      });
      p.thread([&] {
        ready.store(1, seq_cst);
        if (asleep.load(seq_cst) == 1) {
          asleep.store(0, release);
          sync::wake(asleep);
        }
      });
    };
    model::result const r = model::explore({}, body);
    EXPECT_EQ(r.ok(), looks_again) << r.report();
    if (!looks_again) {
      EXPECT_NE(r.failure.find("deadlock"), std::string::npos);
      model::config again;
      again.replay = r.choices;
      model::result const replayed = model::explore(again, body);
      EXPECT_EQ(replayed.failure, r.failure);
      EXPECT_EQ(replayed.trace, r.trace);
    }
  }
}

TEST(litmus, a_lock_that_spins_ends) {
  model::result const r = model::explore({}, [](program& p) {
    auto& lock = p.make<atomic<bool>>(false);
    auto& d = p.make<var<int>>(0);
    for (int i = 0; i < 3; ++i) {
      p.thread([&] {
        while (lock.load(relaxed) || lock.exchange(true, acquire)) sync::relax();
        d.set(d.get() + 1);
        lock.store(false, release);
      });
    }
    p.finally([&] { model::check(d.get() == 3, "three increments"); });
  });
  EXPECT_TRUE(r.ok()) << r.report();
  EXPECT_TRUE(r.complete) << r.report();
}

// The reduction loses no outcome: small programs, all interleavings with and without it.
TEST(litmus, reduced_and_plain_search_find_the_same) {
  std::vector<order> const loads{relaxed, acquire, seq_cst};
  std::vector<order> const stores{relaxed, release, seq_cst};
  long const rounds = test::scaled(150, 30);
  unsigned seed = 1;
  auto const random = [&seed](unsigned n) { return (seed = seed * 1664525U + 1013904223U) / 65536U % n; };
  for (int round = 0; round < rounds; ++round) {
    struct step {
      unsigned what, object;
      order o;
    };
    std::vector<std::vector<step>> threads(2 + random(2));
    for (auto& t : threads) {
      unsigned const n = threads.size() == 2 ? 4 : 2 + random(2);
      for (unsigned i = 0; i < n; ++i) {
        unsigned const what = random(6);
        t.push_back({what, random(2), (what % 2 == 0 ? loads : stores)[random(3)]});
      }
    }
    auto const run = [&](int preemptions) {
      litmus l{{}, static_cast<int>(threads.size()) * 4 + 2};
      l.config.preemptions = preemptions;
      return l.run([&](program& p, std::vector<int>& r) {
        auto* const x = p.make<std::unique_ptr<atomic<int>[]>>(new atomic<int>[2]).get();
        for (std::size_t t = 0; t < threads.size(); ++t) {
          p.thread([&, t, x] {
            for (std::size_t i = 0; i < threads[t].size(); ++i) {
              step const& s = threads[t][i];
              int& to = r[t * 4 + i];
              int const mine = static_cast<int>(t * 4 + i) + 1;
              switch (s.what) {
                case 0:
                case 2: to = x[s.object].load(s.o); break;
                case 1:
                case 3: x[s.object].store(mine, s.o); break;
                case 4: {
                  int e = 0;
                  to = x[s.object].compare_exchange_strong(e, mine, seq_cst, s.o) ? 100 : e;
                  break;
                }
                default:
                  if (s.object == 0) {
                    sync::fence();
                  } else {
                    to = x[0].exchange(mine, s.o);
                  }
              }
            }
          });
        }
        p.finally([&r, x, n = threads.size()] {
          r[n * 4] = x[0].load(relaxed);
          r[n * 4 + 1] = x[1].load(relaxed);
        });
      });
    };
    EXPECT_EQ(run(-1), run(1000)) << "round " << round;
  }
}

}  // namespace
