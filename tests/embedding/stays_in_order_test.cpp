// The order in which a thread resumes the stacks that it has left inside nopal::stay: the newest first, unless that waits for an older.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <nopal/nopal.hpp>
#include <nopal/stay.hpp>

namespace {

using namespace std::chrono_literals;

// Strands that wait inside nopal::stay on one worker's thread, each begun while those before it wait.
class strands {
 public:
  explicit strands(nopal::pool& p) noexcept : pool_{p} {}

  /// Begins one that waits for `until`, then calls f. Notes its name, `c`, when it continues.
  template <class F>
  void begin(char c, nopal::counter& until, F f) {
    begin_with([this, c, &until, f](nopal::counter& begun) {
      wait(
          c,
          [&] {
            begun.done();
            nopal::wait_for(until);
          },
          f);
    });
  }
  void begin(char c, nopal::counter& until) {
    begin(c, until, [] {});
  }
  /// Begins one that joins a job, which waits for `until` on another worker.
  void begin_joining(char c, nopal::counter& until) {
    begin_with([this, c, &until](nopal::counter& begun) {
      wait(c, [&] { pool_.run([&]() -> nopal::task<> { return wait_elsewhere(until, begun); }); }, [] {});
    });
  }
  /// Waits for all. Returns the names in the order in which they continued.
  std::string order() {
    nopal::wait_for(all_);
    return order_;
  }

 private:
  template <class F>
  void begin_with(F body) {
    nopal::counter begun{1};
    all_.add(1);
    pool_.detach([this, &begun, body]() -> nopal::task<> {
      co_await nopal::resume_on(pool_.worker(0));
      body(begun);
      all_.done();
    });
    nopal::wait_for(begun);
    std::this_thread::sleep_for(1ms);  // now it most likely waits
  }
  template <class W, class F>
  void wait(char c, W until, F f) {
    nopal::stay const here;
    until();
    order_ += c;
    f();
  }
  nopal::task<> wait_elsewhere(nopal::counter& until, nopal::counter& begun) {
    co_await nopal::resume_on(pool_.worker(1));
    begun.done();
    nopal::wait_for(until);
  }

  nopal::pool& pool_;
  nopal::counter all_;
  std::string order_;  // by the one thread
};

class stays_on_workers : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(in_order, stays_on_workers, testing::Values(1U, 2U, 3U));

TEST_P(stays_on_workers, what_was_left_last_goes_on_first) {
  nopal::pool p{{.workers = GetParam()}};
  int in_time = 0;
  for (int k = 0; k < 500 && in_time < 5; ++k) {
    nopal::counter a{1}, b{1}, c{1};
    strands s{p};
    s.begin('a', a);
    s.begin('b', b);
    s.begin('c', c);
    auto const start = std::chrono::steady_clock::now();
    a.done();
    std::this_thread::sleep_for(2ms);
    b.done();
    std::this_thread::sleep_for(2ms);
    c.done();
    std::string const order = s.order();
    if (std::chrono::steady_clock::now() - start > 50ms) continue;  // they may have waited for too long: on a machine that does much else
    ++in_time;
    EXPECT_EQ(order, "cba");
  }
  EXPECT_GT(in_time, 0);
}

TEST(stays_in_order, a_join_is_waited_for_long) {
  nopal::pool p{{.workers = 2}};
  nopal::counter a{1}, b{1};
  strands s{p};
  s.begin('a', a);
  s.begin_joining('b', b);
  a.done();
  std::this_thread::sleep_for(1s);  // no worker runs; a stack that waits for one that waits at no join would continue
  b.done();
  EXPECT_EQ(s.order(), "ba");
}

TEST(stays_in_order, but_not_for_ever) {
  nopal::pool p{{.workers = 2}};
  nopal::counter a{1}, b{1};
  strands s{p};
  s.begin('a', a, [&] { b.done(); });
  s.begin_joining('b', b);
  a.done();
  EXPECT_EQ(s.order(), "ab");
}

TEST_P(stays_on_workers, but_not_if_that_waits_for_one_before) {
  nopal::pool p{{.workers = GetParam()}};
  nopal::counter a{1}, b{1}, c{1};
  strands s{p};
  s.begin('a', a, [&] { c.done(); });
  s.begin('b', b);
  s.begin('c', c, [&] { b.done(); });
  a.done();
  EXPECT_EQ(s.order(), "acb");
}

// What awaits its turn is looked for by a search; yields do not keep the thread from it.
TEST(stays_in_order, where_others_yield_without_end) {
  for (int const yielders : {1, 2}) {
    nopal::pool p{{.workers = 1}};
    nopal::counter a{1}, b{1}, all;
    strands s{p};
    std::atomic<bool> over{false};
    s.begin('a', a, [&] { b.done(); });
    s.begin('b', b, [&] { over = true; });
    for (int k = 0; k < yielders; ++k) {
      p.spawn(all, [&] {
        while (!over) nopal::yield();
      });
    }
    a.done();
    EXPECT_EQ(s.order(), "ab");
    nopal::wait_for(all);
  }
}

}  // namespace
