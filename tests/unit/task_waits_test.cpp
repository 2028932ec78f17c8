// What a task may await without a native stack: channels, mutexes, semaphores, points in time. Also that the same names still wait at once
// where they are only called.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <ratio>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "../numbered.hpp"
#include "../on_pools.hpp"
#include "nopal/channel.hpp"
#include "nopal/fiber.hpp"
#include "nopal/mutex.hpp"
#include "nopal/pool.hpp"
#include "nopal/semaphore.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::channel;
using nopal::task;
using test::numbered;
using test::on_some_pools;

/// The number that f() throws; 0: it throws none.
template <class F>
int number_thrown(F f) {
  try {
    f();
  } catch (numbered const& e) {
    return e.number;
  }
  return 0;
}

void until(std::atomic<int> const& n, int value) {
  while (n < value) std::this_thread::sleep_for(1ms);
}

task<long> sum_of(channel<int>& from) {
  long sum = 0;
  while (auto v = co_await from.pop()) sum += *v;
  co_return sum;
}

TEST(TaskWaits, PopsWhatIsPushed) {
  on_some_pools([](nopal::pool& pool) {
    channel<int> ch{2};
    auto sum = pool.submit(sum_of, ch);
    for (int k = 1; k <= 500; ++k) ASSERT_TRUE(ch.push(k));
    ch.close();
    EXPECT_EQ(sum.get(), 125250);
  });
}

task<int> pops_one(channel<int>& from, std::atomic<int>& arrived) {
  ++arrived;
  std::optional<int> const v = co_await from.pop();
  co_return v.value();
}

TEST(TaskWaits, TenThousandTasksThatWaitHoldNoStacks) {
  constexpr int tasks = 10'000;
  nopal::pool pool{{.workers = 2}};
  channel<int> ch{16};
  std::atomic<int> arrived{0};
  std::vector<nopal::future<int>> all;
  all.reserve(tasks);
  for (int k = 0; k < tasks; ++k) all.push_back(pool.submit(pops_one, ch, arrived));
  until(arrived, tasks);
  // While a worker that holds the channel's lock has lost its CPU, tasks wait for that lock, on stacks. These are free afterwards, and go.
  while (pool.stats().stacks_live >= 500U) std::this_thread::sleep_for(10ms);
  for (int k = 0; k < tasks; ++k) ASSERT_TRUE(ch.push(1));
  int sum = 0;
  for (auto& f : all) sum += f.get();
  EXPECT_EQ(sum, tasks);
}

task<> pushes(channel<std::unique_ptr<int>>& to, int k) {
  bool const taken = co_await to.push(std::make_unique<int>(k));
  EXPECT_TRUE(taken);
}

task<> pushes_all(channel<std::unique_ptr<int>>& to, int n) {
  for (int k = 0; k < n; ++k) co_await nopal::fork(pushes, to, k);
  co_await nopal::join;
  to.close();
}

TEST(TaskWaits, PushesWhatOnlyMoves) {
  on_some_pools([](nopal::pool& pool) {
    channel<std::unique_ptr<int>> ch{1};
    auto done = pool.submit(pushes_all, ch, 200);
    int sum = 0;
    for (auto& v : ch) sum += *v;
    done.get();
    EXPECT_EQ(sum, 19900);
  });
}

task<> pushes_into_closed(channel<std::unique_ptr<int>>& ch, std::unique_ptr<int>& mine, std::atomic<int>& arrived) {
  ++arrived;
  EXPECT_FALSE(co_await ch.push(std::move(mine)));
  EXPECT_NE(mine, nullptr);  // unchanged
}

TEST(TaskWaits, AClosedChannelLeavesTheValue) {
  on_some_pools([](nopal::pool& pool) {
    channel<std::unique_ptr<int>> ch{1};
    ASSERT_TRUE(ch.push(nullptr));
    auto mine = std::make_unique<int>(1);
    std::atomic<int> arrived{0};
    auto done = pool.submit(pushes_into_closed, ch, mine, arrived);
    until(arrived, 1);
    ch.close();
    done.get();
    EXPECT_NE(mine, nullptr);
  });
}

// ---- The same names, called.

task<> calls(channel<int>& in, channel<int>& out) {
  auto first = in.pop();
  EXPECT_EQ(first, 1);
  std::optional<int> second = in.pop();
  EXPECT_EQ(second, 2);
  static_cast<void>(in.pop());
  EXPECT_EQ(in.pop().value(), 4);
  EXPECT_EQ(*in.pop(), 5);
  first = in.pop();
  EXPECT_EQ(*first, 6);
  if (!in.pop()) ADD_FAILURE();
  bool const taken = out.push(1);
  EXPECT_TRUE(taken);
  auto const again = out.push(2);
  EXPECT_TRUE(again);
  out.push(3);
  nopal::sleep_for(1us);
  out.push(4);
  EXPECT_FALSE(in.pop());
  co_return;
}

TEST(TaskWaits, CallsWaitAtOnce) {
  on_some_pools([](nopal::pool& pool) {
    channel<int> in{1};
    channel<int> out{1};
    auto done = pool.submit(calls, in, out);
    for (int k = 1; k <= 7; ++k) ASSERT_TRUE(in.push(k));
    for (int k = 1; k <= 4; ++k) EXPECT_EQ(out.pop(), k);
    in.close();
    done.get();
  });
}

TEST(TaskWaits, ACopyOfACallHasWaited) {
  channel<int> ch{4};
  auto const taken = ch.push(3);
  EXPECT_TRUE(taken);
  auto v = ch.pop();
  ASSERT_TRUE(v.has_value());
  EXPECT_EQ(*v, 3);
  ch.close();
  v = ch.pop();
  EXPECT_EQ(v, std::nullopt);
  EXPECT_EQ(v.value_or(7), 7);
  static_assert(!std::is_copy_constructible_v<nopal::popped<int>>);
}

task<> calls_in_order(channel<int>& ch, std::vector<int>& seen) {
  for (int k = 0; k < 3; ++k) {
    auto const v = ch.pop();  // has waited when the next statement runs
    seen.push_back(*v);
  }
  co_return;
}

TEST(TaskWaits, ACallInATaskWaitsBeforeTheNextStatement) {
  on_some_pools([](nopal::pool& pool) {
    channel<int> ch{1};
    std::vector<int> seen;
    auto done = pool.submit(calls_in_order, ch, seen);
    for (int k = 0; k < 3; ++k) ASSERT_TRUE(ch.push(k));
    done.get();
    EXPECT_EQ(seen, (std::vector{0, 1, 2}));
  });
}

// ---- Where a task waits.

task<int> pops_in_a_call(channel<int>& ch) { co_return *co_await ch.pop(); }
task<int> calls_one_that_pops(channel<int>& ch) {
  int const a = co_await nopal::call(pops_in_a_call, ch);
  int const b = co_await nopal::call(pops_in_a_call, ch);
  co_return a + 10 * b;
}

TEST(TaskWaits, ACallerWaitsForACalledTaskThatWaits) {
  on_some_pools([](nopal::pool& pool) {
    channel<int> ch{1};
    auto sum = pool.submit(calls_one_that_pops, ch);
    ch.push(1);
    ch.push(2);
    EXPECT_EQ(sum.get(), 21);
  });
}

task<int> tree(channel<int>& ch, int depth) {
  if (depth == 0) co_return *co_await ch.pop();
  int a = 0;
  co_await nopal::fork(&a, tree, ch, depth - 1);
  int const own = *co_await ch.pop();  // between fork and join
  int const b = co_await nopal::call(tree, ch, depth - 1);
  co_await nopal::join;
  co_return a + b + own;
}

TEST(TaskWaits, BetweenForkAndJoin) {
  on_some_pools([](nopal::pool& pool) {
    channel<int> ch{3};
    auto sum = pool.submit(tree, ch, 7);
    for (int k = 0; k < 255; ++k) ASSERT_TRUE(ch.push(k));
    EXPECT_EQ(sum.get(), 255 * 254 / 2);
  });
}

task<> fails_between(channel<int>& ch, channel<int>& of_child, std::atomic<int>& arrived, bool& child_ended) {
  auto const child = [](channel<int>& c, bool& ended) -> task<> {
    co_await c.pop();
    ended = true;
  };
  co_await nopal::fork(child, of_child, child_ended);
  ++arrived;
  co_await ch.pop();
  ADD_FAILURE() << "the channel was closed with an exception";
  co_await nopal::join;
}

TEST(TaskWaits, AnExceptionBetweenForkAndJoinWaitsForTheChildren) {
  on_some_pools([](nopal::pool& pool) {
    channel<int> ch{1};
    channel<int> of_child{1};
    std::atomic<int> arrived{0};
    bool child_ended = false;
    auto done = pool.submit(fails_between, ch, of_child, arrived, child_ended);
    until(arrived, 1);
    ch.close(std::make_exception_ptr(numbered{7}));
    std::this_thread::sleep_for(1ms);
    of_child.push(1);
    EXPECT_EQ(number_thrown([&] { done.get(); }), 7);
    EXPECT_TRUE(child_ended);
  });
}

TEST(TaskWaits, AnExceptionOfACloseArrives) {
  on_some_pools([](nopal::pool& pool) {
    channel<int> ch{1};
    auto sum = pool.submit(sum_of, ch);
    ch.push(1);
    ch.close(std::make_exception_ptr(numbered{3}));
    EXPECT_EQ(number_thrown([&] { sum.get(); }), 3);
  });
}

// ---- Values that throw.

struct throws_at_a_move {
  static inline std::atomic<int> moves_left{0};
  int number;
  explicit throws_at_a_move(int n) : number{n} {}
  throws_at_a_move(throws_at_a_move&& o) : number{o.number} {
    if (--moves_left == 0) throw numbered{number};
  }
};

task<int> pops_what_throws(channel<throws_at_a_move>& ch, std::atomic<int>& arrived) {
  int thrown = 0;
  ++arrived;
  try {
    co_await ch.pop();
  } catch (numbered const& e) {
    thrown = e.number;
  }
  auto v = co_await ch.pop();  // the value is still there
  co_return v->number + 10 * thrown;
}

TEST(TaskWaits, AMoveThatThrowsPopsNothing) {
  on_some_pools([](nopal::pool& pool) {
    channel<throws_at_a_move> ch{1};
    std::atomic<int> arrived{0};
    throws_at_a_move::moves_left = 2;  // the second is that of the first pop
    auto number = pool.submit(pops_what_throws, ch, arrived);
    until(arrived, 1);
    ASSERT_TRUE(ch.push(throws_at_a_move{5}));
    EXPECT_EQ(number.get(), 55);
  });
}

// ---- Mutexes and semaphores.

task<> adds(nopal::mutex& m, long& n, nopal::semaphore& permits, std::atomic<int>& inside) {
  co_await permits.acquire();
  EXPECT_LE(++inside, 3);
  {
    auto held = co_await m.lock();
    EXPECT_TRUE(held.owns_lock());
    long const before = n;
    co_await nopal::sleep_for(1us);  // the mutex stays the task's
    n = before + 1;
  }
  --inside;
  permits.release();
}

task<> add_all(nopal::mutex& m, long& n, nopal::semaphore& permits, std::atomic<int>& inside, int tasks) {
  for (int k = 0; k < tasks; ++k) co_await nopal::fork(adds, m, n, permits, inside);
  co_await nopal::join;
}

TEST(TaskWaits, AMutexIsOneTasksOrFibers) {
  on_some_pools([](nopal::pool& pool) {
    nopal::mutex m;
    nopal::semaphore permits{3};
    std::atomic<int> inside{0};
    long n = 0;
    auto done = pool.submit(add_all, m, n, permits, inside, 100);
    nopal::counter left;
    for (int k = 0; k < 20; ++k) {
      pool.spawn(left, [&] {
        std::lock_guard const guard{m};
        ++n;
      });
    }
    for (int k = 0; k < 20; ++k) {
      std::lock_guard const guard{m};
      ++n;
    }
    nopal::wait_for(left);
    done.get();
    EXPECT_EQ(n, 140);
  });
}

task<> locks_twice(nopal::mutex& m) {
  auto held = co_await m.lock();
  EXPECT_THROW(static_cast<void>(co_await m.lock()), std::system_error);
  held.unlock();
  EXPECT_FALSE(held.owns_lock());
  auto again = co_await m.lock();
  auto moved = std::move(again);
  EXPECT_TRUE(moved.owns_lock());
  EXPECT_FALSE(again.owns_lock());  // NOLINT(bugprone-use-after-move)
}

TEST(TaskWaits, ATaskDoesNotWaitForItself) {
  on_some_pools([](nopal::pool& pool) {
    nopal::mutex m;
    pool.run(locks_twice, m);
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

task<> takes(nopal::semaphore& s, std::atomic<int>& taken) {
  co_await s.acquire();
  ++taken;
}
task<> take_all(nopal::semaphore& s, std::atomic<int>& taken, int n) {
  for (int k = 0; k < n; ++k) co_await nopal::fork(takes, s, taken);
  co_await nopal::join;
}

TEST(TaskWaits, ASemaphoresPermitsGoToTasks) {
  on_some_pools([](nopal::pool& pool) {
    nopal::semaphore s{0};
    std::atomic<int> taken{0};
    auto done = pool.submit(take_all, s, taken, 300);
    for (int k = 0; k < 100; ++k) s.release(3);
    done.get();
    EXPECT_EQ(taken, 300);
    EXPECT_FALSE(s.try_acquire());
  });
}

// ---- Time.

struct slow_clock {
  using duration = std::chrono::duration<long, std::milli>;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<slow_clock>;
  [[maybe_unused]] static constexpr bool is_steady = false;
  static time_point now() { return time_point{duration{std::chrono::steady_clock::now().time_since_epoch() / 2ms}}; }
};

// Its present is 2,000 years after its epoch: as nanoseconds that is more than an int64.
struct slow_clock_of_old {
  using duration = slow_clock::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<slow_clock_of_old>;
  [[maybe_unused]] static constexpr bool is_steady = false;
  static time_point now() { return time_point{slow_clock::now().time_since_epoch() + std::chrono::hours{24 * 365 * 2000}}; }
};

template <class Clock>
task<> sleeps_by() {
  auto const when = Clock::now() + typename Clock::duration{2};
  co_await nopal::sleep_until(when);
  EXPECT_GE(Clock::now(), when);
  auto const later = Clock::now() + typename Clock::duration{2};
  nopal::sleep_until(later);
  EXPECT_GE(Clock::now(), later);
}

task<> sleeps() {
  auto const before = std::chrono::steady_clock::now();
  co_await nopal::sleep_for(2ms);
  EXPECT_GE(std::chrono::steady_clock::now(), before + 2ms);
  co_await nopal::sleep_until(before + 3ms);
  EXPECT_GE(std::chrono::steady_clock::now(), before + 3ms);
  co_await nopal::call(sleeps_by<slow_clock>);
  co_await nopal::call(sleeps_by<slow_clock_of_old>);
  co_await nopal::sleep_for(-1h);
  co_await nopal::sleep_until(std::chrono::steady_clock::time_point::min());
}

TEST(TaskWaits, Sleeps) {
  on_some_pools([](nopal::pool& pool) { pool.run(sleeps); });
}

// ---- Requests to stop, and deadlines.

enum class what { pops, pushes, sleeps };

task<> waits_for_ever(what w, channel<int>& empty, channel<int>& full, std::atomic<int>& arrived) {
  ++arrived;
  switch (w) {
    case what::pops: co_await empty.pop(); break;
    case what::pushes: co_await full.push(1); break;
    case what::sleeps: co_await nopal::sleep_for(24h * 365); break;
  }
  ADD_FAILURE() << "no value and no room came";
}
task<> all_wait_for_ever(channel<int>& empty, channel<int>& full, std::atomic<int>& arrived) {
  for (int k = 0; k < 30; ++k) co_await nopal::fork(waits_for_ever, static_cast<what>(k % 3), empty, full, arrived);
  ++arrived;
  co_await empty.pop();
  ADD_FAILURE() << "no value came";
  co_await nopal::join;
}

TEST(TaskWaits, ARequestToStopEndsThem) {
  on_some_pools([](nopal::pool& pool) {
    channel<int> empty{1};
    channel<int> full{1};
    full.push(0);
    std::atomic<int> arrived{0};
    std::stop_source source;
    std::jthread const asks{[&] {
      until(arrived, 31);
      source.request_stop();
    }};
    EXPECT_THROW(nopal::with_stop(source.get_token(), [&] { pool.run(all_wait_for_ever, empty, full, arrived); }), nopal::stopped);
    EXPECT_EQ(full.pop(), 0);
    EXPECT_FALSE(full.try_pop().has_value());  // nothing was pushed
  });
}

TEST(TaskWaits, ADeadlineEndsThem) {
  on_some_pools([](nopal::pool& pool) {
    channel<int> empty{1};
    channel<int> full{1};
    full.push(0);
    std::atomic<int> arrived{0};
    auto const deadline = std::chrono::steady_clock::now() + 2ms;
    EXPECT_THROW(nopal::with_deadline(deadline, [&] { pool.run(all_wait_for_ever, empty, full, arrived); }), nopal::stopped);
    EXPECT_GE(std::chrono::steady_clock::now(), deadline);
  });
}

// Pushes, pops, a close and a request to stop at the same time: each value that was taken is popped once, or still there.
task<> pops_until_it_ends(channel<int>& ch, std::atomic<long>& sum) {
  while (auto v = co_await ch.pop()) sum += *v;
}
task<> pushes_until_it_ends(channel<int>& ch, std::atomic<long>& sum) {
  for (int k = 1; k < 1000; ++k) {
    if (!co_await ch.push(k)) co_return;
    sum += k;
  }
}
task<> both(channel<int>& ch, std::atomic<long>& in, std::atomic<long>& out) {
  for (int k = 0; k < 4; ++k) {
    co_await nopal::fork(pops_until_it_ends, ch, out);
    co_await nopal::fork(pushes_until_it_ends, ch, in);
  }
  co_await nopal::join;
}

TEST(TaskWaits, NothingIsLostWhenItEnds) {
  for (bool const closes : {true, false}) {
    on_some_pools([&](nopal::pool& pool) {
      channel<int> ch{2};
      std::atomic<long> in{0};
      std::atomic<long> out{0};
      std::stop_source source;
      std::jthread const ends{[&] {
        while (out < 100) std::this_thread::yield();
        closes ? ch.close() : static_cast<void>(source.request_stop());
      }};
      try {
        nopal::with_stop(source.get_token(), [&] { pool.run(both, ch, in, out); });
        EXPECT_TRUE(closes);
      } catch (nopal::stopped const&) {
        EXPECT_FALSE(closes);
      }
      while (auto const v = ch.try_pop()) out += *v;
      EXPECT_EQ(in, out);
    });
  }
}

// ---- Where a task cannot leave its stack, it waits on it.

TEST(TaskWaits, WhereStacksReturnToTheirThreads) {
  nopal::pool pool{{.workers = 2, .resume = nopal::resume::home}};
  channel<int> ch{2};
  auto sum = pool.submit(sum_of, ch);
  for (int k = 1; k <= 100; ++k) ASSERT_TRUE(ch.push(k));
  ch.close();
  EXPECT_EQ(sum.get(), 5050);
  nopal::mutex m;
  nopal::semaphore permits{3};
  std::atomic<int> inside{0};
  long n = 0;
  pool.run(add_all, m, n, permits, inside, 20);
  EXPECT_EQ(n, 20);
}

}  // namespace
