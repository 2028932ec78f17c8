// A graph's first run needs memory; further ones need none.

#include "nopal/graph.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <vector>

#include "inject.hpp"
#include "nopal/pool.hpp"

namespace {

using namespace test::faults;

TEST(faults_of_a_graph, do_not_reach_a_further_run) {
  nopal::pool pool{{.workers = 1}};  // a thief's ring may have to grow once, in whichever run it gets that far
  nopal::graph g;
  std::atomic<int> ran{0};
  std::vector<nopal::graph_node> row;
  for (int k = 0; k < 100; ++k) row.push_back(g.node([&] { ++ran; }));
  auto const meet = g.node([&] { ++ran; }, nopal::after(row));
  for (int k = 0; k < 100; ++k) g.node([&] { ++ran; }, nopal::after(meet));
  pool.run([&] {
    for (int k = 0; k < 10; ++k) g.run();
  });
  pool.run([&] {
    armed const a{{.kinds = of(kind::allocation, kind::c_allocation), .first = 1, .last = plan::never}};
    for (int k = 0; k < 100; ++k) g.run();
    EXPECT_EQ(calls(kind::allocation), 0U);
    EXPECT_EQ(calls(kind::c_allocation), 0U);
  });
  EXPECT_EQ(ran, 201 * 110);
}

// Whichever allocation of the first run fails: no node has run, and the next run is as if that had not been.
TEST(faults_of_a_graph, in_the_first_run) {
  nopal::pool pool{{.workers = 1}};
  pool.run([&] {
    for (std::uint64_t n = 1;; ++n) {
      nopal::graph g;
      int ran = 0;
      auto const x = g.node([&] { ++ran; });
      g.node([&] { ++ran; }, nopal::after(x));
      bool failed = false;
      {
        armed const a{{.kinds = of(kind::allocation), .first = n}};
        try {
          g.run();
        } catch (std::bad_alloc const&) {
          failed = true;
        }
      }
      EXPECT_EQ(ran, failed ? 0 : 2);
      g.run();
      EXPECT_EQ(ran, failed ? 2 : 4);
      if (!failed) return;
    }
  });
}

TEST(faults_of_a_graph, leave_it_as_it_was_where_a_node_is_added) {
  for (std::uint64_t n = 1;; ++n) {
    nopal::graph g;
    int ran = 0;
    auto const x = g.node([&] { ++ran; });
    auto const y = g.node([&] { ++ran; });
    bool failed = false;
    {
      armed const a{{.kinds = of(kind::allocation), .first = n}};
      try {
        g.node(nopal::name{"a name that is too long for a short string"}, [&] { ran *= 10; }, nopal::after(x, y));
      } catch (std::bad_alloc const&) {
        failed = true;
      }
    }
    g.run();
    EXPECT_EQ(ran, failed ? 2 : 20);
    if (!failed) return;
  }
}

}  // namespace
