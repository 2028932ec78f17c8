// Regions that are made inside of each other without end: jobs that each submit the next. They need memory for what can still ask them,
// and no more; and a request, and the end, need no stack for their depth.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "../scale.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/fiber.hpp"
#include "nopal/future.hpp"
#include "nopal/latch.hpp"
#include "nopal/pool.hpp"
#include "nopal/priority.hpp"
#include "nopal/stop.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::core::held_region;
using nopal::core::make_region;
using nopal::core::no_region;
using nopal::core::region_id;
using nopal::core::region_of;
using nopal::core::time_point;

long const steps = test::scaled(100'000);

// The ids of regions are as small as may be: a region that has ended gives its id to another one. So the largest one tells how many there
// were at the same time.
constexpr region_id few = 200;

/// Jobs, each of which submits the next by next(pool, k, f).
class chain {
 public:
  using way = std::function<void(nopal::pool&, long, std::function<void()>)>;

  chain(nopal::pool& p, way next) : pool_{p}, next_{std::move(next)} {}
  /// Runs it to its end, in the caller's region. The last job calls last().
  void run(std::function<void()> last = [] {}) {
    last_ = std::move(last);
    step(0);
    nopal::without_stop([&] { ended_.wait(); });
  }
  /// The largest id of a region in which a job has run.
  region_id largest() const { return largest_; }

 private:
  void step(long k) {
    largest_ = std::max(largest_, nopal::core::region_here());  // one job at a time
    if (k < steps) return next_(pool_, k, [this, k] { step(k + 1); });
    last_();
    ended_.count_down();
  }

  nopal::pool& pool_;
  way next_;
  std::function<void()> last_;
  region_id largest_ = no_region;
  nopal::latch ended_{1};
};

/// A chain whose first job is asked by a token, of which the last one hears, too.
void is_bounded_and_asked(chain::way next) {
  nopal::pool pool{{.workers = 2}};
  std::stop_source first;
  chain c{pool, std::move(next)};
  bool before = true;
  bool after = false;
  nopal::with_stop(first.get_token(), [&] {
    c.run([&] {
      before = nopal::stop_requested();
      first.request_stop();
      after = nopal::stop_requested();
    });
  });
  EXPECT_FALSE(before);
  EXPECT_TRUE(after);
  EXPECT_LT(c.largest(), few);
}

TEST(chains, by_one_token) {
  std::stop_source one;
  is_bounded_and_asked([&](nopal::pool& p, long, auto f) { static_cast<void>(p.submit(one.get_token(), f)); });
}

TEST(chains, by_tokens_that_take_turns) {
  std::array<std::stop_source, 40> all;
  is_bounded_and_asked(
      [&](nopal::pool& p, long k, auto f) { static_cast<void>(p.submit(all[static_cast<std::size_t>(k) % all.size()].get_token(), f)); });
}

TEST(chains, by_tokens_whose_sources_end) {
  is_bounded_and_asked([&](nopal::pool& p, long, auto f) {
    std::stop_source const own;
    static_cast<void>(p.submit(own.get_token(), f));
  });
}

TEST(chains, by_tokens_whose_sources_end_later) {
  std::array<std::optional<std::stop_source>, 30> latest;
  is_bounded_and_asked([&](nopal::pool& p, long k, auto f) {
    auto& own = latest[static_cast<std::size_t>(k) % latest.size()].emplace();
    static_cast<void>(p.submit(own.get_token(), f));
  });
}

TEST(chains, by_priorities) {
  constexpr std::array all{nopal::priority::low, nopal::priority::normal, nopal::priority::high};
  is_bounded_and_asked(
      [&](nopal::pool& p, long k, auto f) { static_cast<void>(p.submit(all[static_cast<std::size_t>(k) % all.size()], f)); });
}

TEST(chains, by_priorities_and_tokens) {
  std::array<std::stop_source, 2> all;
  is_bounded_and_asked([&](nopal::pool& p, long k, auto f) {
    static_cast<void>(
        p.submit(k % 3 == 0 ? nopal::priority::low : nopal::priority::high, all[static_cast<std::size_t>(k) % 2].get_token(), f));
  });
}

TEST(chains, by_time_limits) {
  is_bounded_and_asked([&](nopal::pool& p, long, auto f) { nopal::with_time_limit(1h, [&] { p.detach(f); }); });
}

TEST(chains, by_deadlines_that_come_nearer) {
  auto const end = std::chrono::steady_clock::now() + 2h;
  is_bounded_and_asked([&](nopal::pool& p, long k, auto f) {
    nopal::with_deadline(end - std::chrono::milliseconds{k % 2 == 0 ? k : 0}, [&] { p.detach(f); });
  });
}

TEST(chains, of_fibers) {
  std::stop_source one;
  is_bounded_and_asked([&](nopal::pool& p, long k, auto f) {
    nopal::with_stop(one.get_token(), [&] { p.spawn(k % 2 == 0 ? nopal::priority::low : nopal::priority::high, f); });
  });
}

TEST(chains, by_askers_that_end) {
  is_bounded_and_asked([&](nopal::pool& p, long, auto f) {
    nopal::core::inside_asked_region const in;
    p.detach(f);
  });
}

TEST(chains, after_they_were_asked) {
  nopal::pool pool{{.workers = 2}};
  std::stop_source one;
  one.request_stop();
  chain c{pool, [&](nopal::pool& p, long, auto f) {
            std::stop_source const own;
            static_cast<void>(p.submit(own.get_token(), f));
          }};
  bool asked = false;
  nopal::with_stop(one.get_token(), [&] { c.run([&] { asked = nopal::stop_requested(); }); });
  EXPECT_TRUE(asked);
  EXPECT_LT(c.largest(), few);
}

TEST(chains, outside_of_all_regions) {
  nopal::pool pool{{.workers = 2}};
  std::stop_source one;
  chain c{pool, [&](nopal::pool& p, long, auto f) { static_cast<void>(p.submit(one.get_token(), f)); }};
  bool asked = false;
  c.run([&] {
    pool.request_stop();
    asked = nopal::stop_requested();
  });
  EXPECT_TRUE(asked);
  EXPECT_LT(c.largest(), few);
}

// Each token may still be requested, so each region stays. Then the first one asks all, and all end, on a native stack, which is small.
TEST(chains, a_deep_one_needs_no_stack) {
  nopal::pool pool{{.workers = 2}};
  std::vector<std::stop_source> sources(static_cast<std::size_t>(steps));
  chain c{pool, [&](nopal::pool& p, long k, auto f) { static_cast<void>(p.submit(sources[static_cast<std::size_t>(k)].get_token(), f)); }};
  bool before = true;
  bool after = false;
  c.run([&] {
    before = nopal::stop_requested();
    sources.front().request_stop();
    after = nopal::stop_requested();
  });
  EXPECT_FALSE(before);
  EXPECT_TRUE(after);
  EXPECT_GE(c.largest(), static_cast<region_id>(steps)) << "it was not deep";
}

TEST(chains, a_deep_one_is_asked_in_its_middle) {
  nopal::pool pool{{.workers = 1}};
  std::vector<std::stop_source> sources(static_cast<std::size_t>(steps));
  pool.run([&] {
    std::vector<std::unique_ptr<held_region>> all;
    region_id around = no_region;
    for (auto const& s : sources) {
      around = all.emplace_back(std::make_unique<held_region>(make_region(s.get_token(), time_point::max(), around)))->id();
    }
    std::size_t const half = sources.size() / 2;
    sources[half].request_stop();
    for (std::size_t k = 0; k < all.size(); ++k) ASSERT_EQ((**all[k]).request.is_made(), k >= half) << k;
    sources.front().request_stop();
    for (auto const& r : all) ASSERT_TRUE((**r).request.is_made());
    for (auto& r : all) r.reset();  // the outer ones first: the innermost ends them all
  });
}

TEST(chains, a_region_that_is_asked_by_its_maker_stays_on_the_way) {
  held_region const outer{nopal::core::make_asked_region(no_region)};
  held_region const inner{nopal::core::make_asked_region(outer.id())};
  region_id around = inner.id();
  std::vector<std::unique_ptr<held_region>> all;
  for (int k = 0; k < 100; ++k) around = all.emplace_back(std::make_unique<held_region>(make_region({}, time_point::max(), around)))->id();
  (*inner).request.make();
  for (auto const& r : all) EXPECT_TRUE((**r).request.is_made());
  EXPECT_FALSE((*outer).request.is_made());
}

// Chains branch, and their ways out are made shorter, while a request comes from outside. Each job is asked in the end: otherwise some
// chain would never end.
TEST(chains, against_requests) {
  nopal::pool pool{{.workers = 3}};
  std::atomic<long> asked{0};
  long const rounds = test::scaled(1'000);
  for (long k = 0; k < rounds; ++k) {
    std::array<std::stop_source, 3> sources;
    constexpr int chains = 4;
    nopal::latch ended{chains};
    std::function<void(unsigned)> const step = [&](unsigned n) {
      if (nopal::stop_requested()) {
        ++asked;
        return ended.count_down();
      }
      auto const next = [&step, n] { step(n + 7); };
      switch (n % 4) {
        case 0: return pool.detach(n % 8 == 0 ? nopal::priority::low : nopal::priority::high, next);
        case 1: {
          std::stop_source const own;
          return static_cast<void>(pool.submit(own.get_token(), next));
        }
        default: return static_cast<void>(pool.submit(sources[n % 3].get_token(), next));
      }
    };
    static_cast<void>(pool.submit(sources[0].get_token(), [&] {
      for (unsigned c = 0; c < chains; ++c) static_cast<void>(pool.submit(sources[1].get_token(), [&step, c] { step(c); }));
    }));
    std::this_thread::sleep_for(std::chrono::microseconds{k % 50 * 4});
    sources[static_cast<std::size_t>(k) % 2].request_stop();
    ended.wait();
  }
  EXPECT_EQ(asked, 4 * rounds);
}

}  // namespace
