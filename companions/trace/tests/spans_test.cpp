// Spans that the program names: the trace shows them right, on whatever threads they begin and end.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nopal/nopal.hpp>
#include <string>
#include <thread>
#include <vector>

#include "decoded.hpp"
#include "file.hpp"

namespace {

using decoded::type;

struct slice {
  std::uint64_t begin, end, track;
};

// The slices of that name; each must have ended.
std::vector<slice> slices(decoded::trace const& t, std::string const& name) {
  std::vector<slice> all;
  std::map<std::uint64_t, std::uint64_t> open;
  for (auto const& e : t.in_order()) {
    if (t.name_of(e) != name) continue;
    if (e.type == type::begin) {
      EXPECT_EQ(e.name, name);
      EXPECT_TRUE(open.emplace(e.track, e.time).second);  // one at a time
    } else {
      EXPECT_EQ(e.type, type::end);
      EXPECT_EQ(open.count(e.track), 1U);
      all.push_back({open[e.track], e.time, e.track});
      open.erase(e.track);
    }
  }
  EXPECT_TRUE(open.empty());
  return all;
}

TEST(span, has_a_track_of_its_name) {
  trace_file const file{"span"};
  {
    nopal::pool pool{{.workers = 2, .name = "mill", .trace = file.name()}};
    pool.run([] {
      nopal::trace_span const outer{"outer"};
      for (int k = 0; k < 3; ++k) nopal::trace_span const inner{"inner"};
    });
  }
  decoded::trace const t{file.name()};
  auto const outer = slices(t, "outer");
  auto const inner = slices(t, "inner");
  ASSERT_EQ(outer.size(), 1U);
  ASSERT_EQ(inner.size(), 3U);
  for (auto const& i : inner) {
    EXPECT_GE(i.begin, outer[0].begin);
    EXPECT_LE(i.end, outer[0].end);
    EXPECT_EQ(i.track, inner[0].track);  // one after the other
  }
  EXPECT_EQ(t.tracks.at(t.tracks.at(outer[0].track).parent).name, "pool mill");
  EXPECT_EQ(t.count(type::begin, "outer"), 0U);  // on no lane
}

// Spans of fibers that wait overlap, and end on the worker that has resumed the fiber.
TEST(span, covers_waits_and_moves) {
  constexpr int fibers = 20;
  trace_file const file{"span_waits"};
  {
    nopal::pool pool{{.workers = 3, .schedule = nopal::schedule::steal_always, .trace = file.name()}};
    pool.run([] {
      nopal::counter all_wait{fibers};
      nopal::counter done;
      for (int k = 0; k < fibers; ++k) {
        nopal::spawn(done, [&] {
          nopal::trace_span const s{"waits"};
          all_wait.done();
          nopal::wait_for(all_wait);
        });
      }
      nopal::wait_for(done);
    });
  }
  auto const all = slices(decoded::trace{file.name()}, "waits");
  ASSERT_EQ(all.size(), static_cast<std::size_t>(fibers));
  std::uint64_t last_begin = 0, first_end = ~std::uint64_t{0};
  for (auto const& s : all) {
    last_begin = std::max(last_begin, s.begin);
    first_end = std::min(first_end, s.end);
    EXPECT_EQ(std::count_if(all.begin(), all.end(), [&](auto const& o) { return o.track == s.track; }), 1);
  }
  EXPECT_LE(last_begin, first_end);
}

nopal::task<int> leaf() { co_return 1; }
nopal::task<int> spanned(int depth) {
  nopal::trace_span const s{"task"};
  int a = 0, b = 0;
  if (depth == 0) co_return 1;
  co_await nopal::fork(&a, spanned, depth - 1);
  co_await nopal::call(&b, leaf);
  co_await nopal::join;
  co_return a + b;
}

// The continuation, with its span, is stolen at each fork.
TEST(span, of_a_task_goes_with_it) {
  trace_file const file{"span_task"};
  nopal::stats s;
  {
    nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_always, .trace = file.name()}};
    pool.run(spanned, 30);
    s = pool.stats();
  }
  EXPECT_GT(s.steals, 0U);
  EXPECT_EQ(slices(decoded::trace{file.name()}, "task").size(), 31U);
}

TEST(span, of_a_thread_outside) {
  trace_file const file{"span_outside"};
  {
    nopal::pool pool{{.workers = 1, .trace = file.name()}};
    nopal::trace_span const s{"outer"};
    {
      nopal::trace_span const before{"before"};
    }
    std::thread{[] { nopal::trace_span const other{"other thread"}; }}.join();
    pool.run([] {});
  }
  decoded::trace const t{file.name()};
  EXPECT_EQ(slices(t, "before").size(), 1U);
  EXPECT_EQ(slices(t, "other thread").size(), 1U);
  EXPECT_EQ(slices(t, "outer").size(), 1U);
}

TEST(span, in_a_pool_that_is_not_traced) {
  nopal::pool pool{{.workers = 1}};
  EXPECT_EQ(pool.run([] {
    nopal::trace_span const s{"nowhere"};
    return 7;
  }),
            7);
}

}  // namespace
