// The classic litmus tests, each with exactly the outcomes that C++20 allows.

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <vector>

#include "explorer.hpp"
#include "litmus.hpp"

namespace {

using model::atomic;
using model::litmus;
using model::order;
using model::outcomes;
using model::program;
using model::sync;
using model::var;
using enum std::memory_order;

outcomes store_buffering(order store, order load, bool fences) {
  return litmus{{}, 2}.run([=](program& p, std::vector<int>& r) {
    auto& x = p.make<atomic<int>>(0);
    auto& y = p.make<atomic<int>>(0);
    p.thread([=, &x, &y, &r] {
      x.store(1, store);
      if (fences) sync::fence();
      r[0] = y.load(load);
    });
    p.thread([=, &x, &y, &r] {
      y.store(1, store);
      if (fences) sync::fence();
      r[1] = x.load(load);
    });
  });
}

TEST(litmus, store_buffering) {
  outcomes const weak{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  outcomes const strong{{0, 1}, {1, 0}, {1, 1}};
  EXPECT_EQ(store_buffering(relaxed, relaxed, false), weak);
  EXPECT_EQ(store_buffering(release, acquire, false), weak);
  EXPECT_EQ(store_buffering(seq_cst, acquire, false), weak);
  EXPECT_EQ(store_buffering(release, seq_cst, false), weak);
  EXPECT_EQ(store_buffering(seq_cst, seq_cst, false), strong);
  EXPECT_EQ(store_buffering(relaxed, relaxed, true), strong);
}

outcomes message_passing(order store, order load) {
  return litmus{{}, 2}.run([=](program& p, std::vector<int>& r) {
    auto& x = p.make<atomic<int>>(0);
    auto& y = p.make<atomic<int>>(0);
    p.thread([=, &x, &y] {
      x.store(1, relaxed);
      y.store(1, store);
    });
    p.thread([=, &x, &y, &r] {
      r[0] = y.load(load);
      r[1] = x.load(relaxed);
    });
  });
}

TEST(litmus, message_passing) {
  outcomes const strong{{0, 0}, {0, 1}, {1, 1}};
  outcomes const weak{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  for (order const s : {relaxed, release, seq_cst})
    for (order const l : {relaxed, acquire, seq_cst})
      EXPECT_EQ(message_passing(s, l), s != relaxed && l != relaxed ? strong : weak) << model::name(s) << ' ' << model::name(l);
}

TEST(litmus, message_passing_by_fences) {
  for (bool const first : {false, true}) {
    for (bool const second : {false, true}) {
      outcomes const seen = litmus{{}, 2}.run([=](program& p, std::vector<int>& r) {
        auto& x = p.make<atomic<int>>(0);
        auto& y = p.make<atomic<int>>(0);
        p.thread([=, &x, &y] {
          x.store(1, relaxed);
          if (first) model::detail::fence(release, model::where::current());
          y.store(1, relaxed);
        });
        p.thread([=, &x, &y, &r] {
          r[0] = y.load(relaxed);
          if (second) model::detail::fence(acquire, model::where::current());
          r[1] = x.load(relaxed);
        });
      });
      EXPECT_EQ(seen.contains({1, 0}), !(first && second));
      EXPECT_EQ(seen.size(), first && second ? 3U : 4U);
    }
  }
}

// Load buffering is the outcome that the explorer cannot show: C++20 allows it for relaxed accesses, but no compiler and processor produce
// it for these protocols without one of the dependencies that order them.
TEST(litmus, load_buffering_is_not_covered) {
  outcomes const seen = litmus{{}, 2}.run([](program& p, std::vector<int>& r) {
    auto& x = p.make<atomic<int>>(0);
    auto& y = p.make<atomic<int>>(0);
    p.thread([&] {
      r[0] = x.load(relaxed);
      y.store(1, relaxed);
    });
    p.thread([&] {
      r[1] = y.load(relaxed);
      x.store(1, relaxed);
    });
  });
  EXPECT_EQ(seen, (outcomes{{0, 0}, {0, 1}, {1, 0}}));
}

TEST(litmus, reads_of_one_object_are_coherent) {
  outcomes const seen = litmus{{}, 2}.run([](program& p, std::vector<int>& r) {
    auto& x = p.make<atomic<int>>(0);
    p.thread([&] {
      x.store(1, relaxed);
      x.store(2, relaxed);
    });
    p.thread([&] {
      r[0] = x.load(relaxed);
      r[1] = x.load(relaxed);
    });
  });
  EXPECT_EQ(seen, (outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

outcomes independent_reads(order load) {
  return litmus{{}, 4}.run([=](program& p, std::vector<int>& r) {
    auto& x = p.make<atomic<int>>(0);
    auto& y = p.make<atomic<int>>(0);
    p.thread([&x] { x.store(1, seq_cst); });
    p.thread([&y] { y.store(1, seq_cst); });
    p.thread([=, &x, &y, &r] {
      r[0] = x.load(load);
      r[1] = y.load(load);
    });
    p.thread([=, &x, &y, &r] {
      r[2] = y.load(load);
      r[3] = x.load(load);
    });
  });
}

TEST(litmus, independent_reads_of_independent_writes) {
  EXPECT_EQ(independent_reads(acquire).size(), 16U);
  outcomes const strong = independent_reads(seq_cst);
  EXPECT_EQ(strong.size(), 15U);
  EXPECT_FALSE(strong.contains({1, 0, 1, 0}));
}

// A read-modify-write continues a release sequence, with any order; a store by the same thread ends it (C++20).
TEST(litmus, release_sequence) {
  for (bool const by_change : {true, false}) {
    outcomes const seen = litmus{{}, 2}.run([=](program& p, std::vector<int>& r) {
      auto& x = p.make<atomic<int>>(0);
      auto& y = p.make<atomic<int>>(0);
      p.thread([=, &x, &y] {
        x.store(1, relaxed);
        y.store(1, release);
        if (!by_change) y.store(2, relaxed);
      });
      p.thread([=, &y] {
        if (by_change) y.fetch_add(1, relaxed);
      });
      p.thread([&] {
        r[0] = y.load(acquire);
        r[1] = x.load(relaxed);
      });
    });
    EXPECT_EQ(seen.contains({2, 0}), !by_change);
    EXPECT_TRUE(seen.contains({2, 1}));
  }
}

TEST(litmus, two_read_modify_writes_never_read_the_same) {
  outcomes const seen = litmus{{}, 3}.run([](program& p, std::vector<int>& r) {
    auto& x = p.make<atomic<int>>(0);
    for (std::size_t i = 0; i < 3; ++i) p.thread([&x, &r, i] { r[i] = x.fetch_add(1, relaxed); });
  });
  EXPECT_EQ(seen.size(), 6U);
  for (auto const& o : seen) EXPECT_EQ(std::set<int>(o.begin(), o.end()), (std::set<int>{0, 1, 2}));
}

TEST(litmus, a_failed_exchange_may_have_read_an_old_value) {
  outcomes const seen = litmus{{}, 2}.run([](program& p, std::vector<int>& r) {
    auto& x = p.make<atomic<int>>(0);
    p.thread([&] { x.store(1, relaxed); });
    p.thread([&] {
      int e = 1;
      r[0] = x.compare_exchange_strong(e, 2, relaxed, relaxed) ? 1 : 0;
      r[1] = e;
    });
  });
  EXPECT_EQ(seen, (outcomes{{1, 1}, {0, 0}}));
}

outcomes asymmetric(bool light, bool heavy) {
  return litmus{{}, 2}.run([=](program& p, std::vector<int>& r) {
    auto& x = p.make<atomic<int>>(0);
    auto& y = p.make<atomic<int>>(0);
    p.thread([=, &x, &y, &r] {
      x.store(1, relaxed);
      if (light) sync::light_fence();
      r[0] = y.load(relaxed);
    });
    p.thread([=, &x, &y, &r] {
      y.store(1, relaxed);
      if (heavy) sync::heavy_fence();
      r[1] = x.load(relaxed);
    });
  });
}

TEST(litmus, dekker_with_an_asymmetric_fence) {
  EXPECT_TRUE(asymmetric(true, false).contains({0, 0}));
  EXPECT_EQ(asymmetric(true, true), (outcomes{{0, 1}, {1, 0}, {1, 1}}));
}

model::result explore_asymmetric(model::weakening const* w) {
  model::config c;
  c.weakened = w;
  return model::explore(c, [](program& p) {
    auto& x = p.make<atomic<int>>(0);
    auto& y = p.make<atomic<int>>(0);
    auto& critical = p.make<var<int>>(0, "critical");
    p.thread([&] {
      x.store(1, relaxed);
      sync::light_fence();
      if (y.load(relaxed) == 0) critical.set(1);
    });
    p.thread([&] {
      y.store(1, relaxed);
      sync::heavy_fence();
      if (x.load(relaxed) == 0) critical.set(2);
    });
  });
}

TEST(litmus, each_half_of_an_asymmetric_fence_is_needed) {
  model::result const r = explore_asymmetric(nullptr);
  ASSERT_TRUE(r.ok()) << r.report();
  int planted = 0;
  for (model::site const& s : r.sites) {
    for (model::weakening const& w : model::weakenings(s)) {
      ++planted;
      EXPECT_FALSE(explore_asymmetric(&w).ok()) << w.text();
    }
  }
  EXPECT_EQ(planted, 2);
}

}  // namespace
