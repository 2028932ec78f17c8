// C-Blosc2 on nopal: what one thread compresses is what comes out again, and the other way round.

#include "nopal_blosc2.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include <nopal/nopal.hpp>

#include "../harness.hpp"
#include "work.hpp"

namespace {

/// C-Blosc2's jobs run on `pool` while this lives.
class on {
 public:
  explicit on(nopal::pool& pool) : jobs_{pool} { blosc2_set_threads_callback(&on::run, this); }
  ~on() { blosc2_set_threads_callback(nullptr, nullptr); }
  on(on const&) = delete;
  on& operator=(on const&) = delete;
  int calls() const { return calls_; }

 private:
  static void run(void* self, void (*job)(void*), int count, std::size_t size, void* data) {
    ++static_cast<on*>(self)->calls_;
    nopal::blosc2_jobs::run(&static_cast<on*>(self)->jobs_, job, count, size, data);
  }
  nopal::blosc2_jobs jobs_;
  std::atomic<int> calls_{0};
};

std::size_t const n = 200'000;

TEST(blosc2, compresses_and_decompresses) {
  blosc2_init();
  auto const all = test::numbers(n);
  auto const serially = test::compressed(all, 1);
  ASSERT_FALSE(serially.empty());
  test::on_pools([&](nopal::pool& pool) {
    on const nopal{pool};
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(test::decompressed(serially, n, 4), all);
      EXPECT_EQ(pool.run([&] { return test::decompressed(serially, n, 4); }), all);
      auto const ours = pool.run([&] { return test::compressed(all, 4); });
      EXPECT_EQ(test::decompressed(ours, n, 1), all);
    }
    EXPECT_GE(nopal.calls(), 9);
  });
}

TEST(blosc2, nests) {
  blosc2_init();
  auto const all = test::numbers(n);
  nopal::pool pool{{.workers = 3}};
  on const nopal{pool};
  EXPECT_EQ(test::right_at_once(pool, [&] { return test::decompressed(test::compressed(all, 4), n, 4) == all; }), test::places);
  EXPECT_GE(nopal.calls(), 2 * test::places);
}

TEST(blosc2, runs_to_the_end_where_it_is_asked_to_stop) {
  blosc2_init();
  auto const all = test::numbers(n);
  auto const right = [&](on const&) { return test::decompressed(test::compressed(all, 4), n, 4) == all; };
  EXPECT_EQ(test::right_where_stopped([](nopal::pool& pool) { return on{pool}; }, right), test::stops);
}

}  // namespace
