// The ring of a worker's events: its owner writes while other threads read.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "trace/src/ring.hpp"

namespace {

using nopal::core::trace_copy;
using nopal::core::trace_event;
using nopal::core::trace_ring;
using nopal::core::traced;

void const* pointer(std::uint64_t n) { return reinterpret_cast<void const*>(n); }  // NOLINT(performance-no-int-to-ptr)

TEST(trace_ring, keeps_the_newest) {
  trace_ring r{8, 1};
  for (std::uint64_t k = 1; k <= 20; ++k) r.record(traced::stole, k, pointer(k), pointer(2 * k));
  trace_copy const c = r.take();
  ASSERT_EQ(c.dropped + c.events.size(), 20U);
  ASSERT_GE(c.events.size(), 7U);
  std::uint64_t k = c.dropped;
  for (trace_event const& e : c.events) {
    ++k;
    EXPECT_EQ(e.kind(), traced::stole);
    EXPECT_EQ(e.extra(), k);
    EXPECT_EQ(e.a, k);
    EXPECT_EQ(e.b, 2 * k);
  }
}

TEST(trace_ring, takes_each_event_once) {
  trace_ring r{8, 1};
  r.record(traced::stole, 1);
  EXPECT_EQ(r.take().events.size(), 1U);
  EXPECT_EQ(r.take().events.size(), 0U);
  r.record(traced::stole, 2);
  r.record(traced::stole, 3);
  trace_copy const c = r.take();
  ASSERT_EQ(c.events.size(), 2U);
  EXPECT_EQ(c.events[0].extra(), 2U);
  EXPECT_EQ(c.dropped, 0U);
}

TEST(trace_ring, records_an_end_for_a_strand_only) {
  trace_ring r{8, 1};
  r.searches();
  r.begins(traced::job);
  r.searches();
  r.searches();
  trace_copy const c = r.take();
  ASSERT_EQ(c.events.size(), 2U);
  EXPECT_EQ(c.events[1].kind(), traced::ended);
}

// A reader never gets an event that is a mixture of two.
TEST(trace_ring, is_read_while_it_is_written) {
  trace_ring r{2, 1};  // so small that the writer is always about to overwrite what is copied
  constexpr std::uint64_t all = 500'000;
  std::atomic<bool> done{false};
  std::thread writer{[&] {
    for (std::uint64_t k = 1; k <= all; ++k) r.record(traced::stole, k, pointer(k), pointer(~k));
    done = true;
  }};
  std::uint64_t last = 0;
  std::uint64_t seen = 0;
  for (bool end = false; !end;) {
    end = done;
    trace_copy const c = r.take();
    seen += c.dropped + c.events.size();
    for (trace_event const& e : c.events) {
      ASSERT_EQ(e.a, e.extra());
      ASSERT_EQ(e.b, ~e.a);
      ASSERT_GT(e.a, last);
      last = e.a;
    }
    ASSERT_LE(last, seen);
  }
  writer.join();
  EXPECT_EQ(seen, all);
  EXPECT_EQ(last, all);
}

TEST(shared_ring, keeps_the_oldest_of_several_threads) {
  nopal::core::shared_ring r{100};
  auto const record = [&] {
    for (int k = 0; k < 80; ++k) r.record(traced::submitted);
  };
  std::thread a{record};
  std::thread b{record};
  a.join();
  b.join();
  EXPECT_EQ(r.size(), 100U);
  EXPECT_EQ(r.dropped(), 60U);
  for (std::size_t k = 0; k < r.size(); ++k) EXPECT_EQ(r.at(k).kind(), traced::submitted);
}

}  // namespace
