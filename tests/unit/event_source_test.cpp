// Events from outside: an epoll instance in which an idle worker waits, and fibers that wait for bytes in pipes.
// Needs the companion simulation.

#include "nopal/event_source.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/fiber_local.hpp"
#include "nopal/floating_point.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/priority.hpp"
#include "nopal/semaphore.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;

class epoll final : public nopal::event_source {
 public:
  epoll() {
    if (all_ < 0 || woken_ < 0) throw std::system_error{errno, std::generic_category()};
    epoll_event e{.events = EPOLLIN, .data = {.ptr = nullptr}};
    ::epoll_ctl(all_, EPOLL_CTL_ADD, woken_, &e);
  }
  ~epoll() override {
    ::close(woken_);
    ::close(all_);
  }
  void poll() noexcept override {
    if (nopal::core::current_or_null() != nullptr) ++polls_by_workers;
    std::array<epoll_event, 16> some;
    int const n = ::epoll_wait(all_, some.data(), static_cast<int>(some.size()), 0);
    static_cast<void>(asked_.load(std::memory_order_acquire));  // pairs with the addition in await
    for (int k = 0; k < n; ++k) {
      auto* const c = static_cast<nopal::counter*>(some[static_cast<std::size_t>(k)].data.ptr);
      eventfd_t before;
      c != nullptr ? c->done() : static_cast<void>(::eventfd_read(woken_, &before));
    }
  }
  void wait() noexcept override {
    ++waits;
    pollfd all{.fd = all_, .events = POLLIN, .revents = 0};
    ::poll(&all, 1, -1);  // which takes nothing: epoll_wait would
  }
  void wake() noexcept override { ASSERT_EQ(::eventfd_write(woken_, 1), 0); }

  /// Suspends the caller until there is something to read, also if it is asked to stop: epoll knows where the counter is.
  void await(int f) {
    nopal::counter readable{1};
    asked_.fetch_add(1, std::memory_order_release);  // pairs with the load in poll: race detectors do not see that the kernel orders this
    epoll_event e{.events = EPOLLIN | EPOLLONESHOT, .data = {.ptr = &readable}};
    if (::epoll_ctl(all_, EPOLL_CTL_MOD, f, &e) != 0) {
      ASSERT_EQ(::epoll_ctl(all_, EPOLL_CTL_ADD, f, &e), 0);
    }
    nopal::without_stop([&] { nopal::wait_for(readable); });
  }

  std::atomic<unsigned> waits{0};
  std::atomic<unsigned> polls_by_workers{0};

 private:
  std::atomic<unsigned> asked_{0};
  int const all_ = ::epoll_create1(EPOLL_CLOEXEC);
  int const woken_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
};

struct pipe_pair {
  int read = -1, write = -1;
  pipe_pair() {
    std::array<int, 2> f;
    if (::pipe(f.data()) != 0) throw std::system_error{errno, std::generic_category()};
    read = f[0], write = f[1];
  }
  pipe_pair(pipe_pair const&) = delete;
  pipe_pair& operator=(pipe_pair const&) = delete;
  ~pipe_pair() { ::close(read), ::close(write); }
  void put(char c) const { ASSERT_EQ(::write(write, &c, 1), 1); }
  char take() const {
    char c = 0;
    EXPECT_EQ(::read(read, &c, 1), 1);
    return c;
  }
};

nopal::pool_options kind_of_pool(int k) {
  switch (k) {
    case 0: return {.workers = 1};
    case 1: return {.workers = 3};
    case 2: return {.workers = 2, .idle = nopal::idle::busy};
    case 3: return {.workers = 2, .experimental = {.steal = false}};
    case 4: return {.workers = 2, .experimental = {.schedule = nopal::schedule::steal_at_random}};
    default: return {.workers = 2, .resume = nopal::resume::home};
  }
}

struct events : testing::TestWithParam<int> {
  std::shared_ptr<epoll> const source = std::make_shared<epoll>();
  nopal::pool_options with_source() {
    nopal::pool_options o = kind_of_pool(GetParam());
    o.experimental.events = source;
    return o;
  }
};

// A thread outside writes after the workers sleep, and also before.
TEST_P(events, wake_a_fiber) {
  nopal::pool pool{with_source()};
  pipe_pair p;
  for (int k = 0; k < 50; ++k) {
    nopal::counter fiber;
    pool.spawn(fiber, [&] {
      source->await(p.read);
      EXPECT_EQ(p.take(), static_cast<char>(k));
    });
    if (k % 10 == 0) std::this_thread::sleep_for(5ms);
    p.put(static_cast<char>(k));
    nopal::wait_for(fiber);
  }
}

// Fibers that wake each other, so that the only worker is never idle, need not wait for the timer's look. Each runs for longer than a thread
// lets pass between two looks. (Where there are other workers, one of them waits in the source.)
TEST(events_of_one_worker, are_looked_for_between_strands) {
  auto const source = std::make_shared<epoll>();
  nopal::pool pool{{.workers = 1, .experimental = {.events = source}}};
  if (pool.run([] { return nopal::core::current()->pool().takes_turns; })) GTEST_SKIP() << "workers that take turns leave it to the timer";
  std::array<nopal::semaphore, 2> turn{nopal::semaphore{0}, nopal::semaphore{0}};
  nopal::counter left;
  unsigned looks = 0;
  constexpr unsigned turns = 10;
  for (unsigned k = 0; k < 2; ++k) {
    pool.spawn(left, [&, k] {
      for (unsigned n = 0; n < turns; ++n) {
        turn.at(k).acquire();
        if (k == 0 && n == 0) looks = source->polls_by_workers;
        auto const end = std::chrono::steady_clock::now() + 200us;
        while (std::chrono::steady_clock::now() < end) {
        }
        if (k == 1 && n + 1 == turns) looks = source->polls_by_workers - looks;
        turn.at(1 - k).release();
      }
    });
  }
  std::this_thread::sleep_for(1ms);  // both wait
  pool.submit([&] { turn[0].release(); }).get();
  nopal::wait_for(left);
  EXPECT_GE(looks, turns);
}

// Looks where it is called from.
class observant final : public nopal::event_source {
 public:
  void poll() noexcept override {
    nopal::core::worker const* const w = nopal::core::current_or_null();
    if (w == nullptr) return;
    ++looks;
    in_regions += w->region != nopal::core::no_region || nopal::current_priority() != nopal::priority::normal || nopal::stop_requested();
    with_values += w->values != nullptr;
    in_other_modes += std::fegetround() != FE_TONEAREST;
  }
  void wait() noexcept override {
    std::unique_lock guard{mutex_};
    changed_.wait(guard, [&] { return std::exchange(woken_, false); });
  }
  void wake() noexcept override {
    std::lock_guard const guard{mutex_};
    woken_ = true;
    changed_.notify_all();
  }

  std::atomic<unsigned> looks{0}, in_regions{0}, with_values{0}, in_other_modes{0};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
};

// The strand before may have ended, and with it its region and its values.
TEST(events_of_one_worker, are_looked_for_outside_of_all_strands) {
  auto const source = std::make_shared<observant>();
  nopal::pool pool{{.workers = 1, .experimental = {.events = source}}};
  if (pool.run([] { return nopal::core::current()->pool().takes_turns; })) GTEST_SKIP() << "workers that take turns leave it to the timer";
  nopal::fiber_local<int> value{7};
  std::stop_source stop;
  stop.request_stop();
  constexpr unsigned fibers = 20;
  nopal::counter left;
  unsigned before = 0;
  pool.run([&] {
    before = source->looks;
    nopal::floating_point_mode const upward{FE_UPWARD};
    nopal::with_stop(stop.get_token(), [&] {
      for (unsigned k = 0; k < fibers; ++k) {
        pool.spawn(k % 2 == 0 ? nopal::priority::high : nopal::priority::normal, left, [&] {
          EXPECT_EQ(*value, 7);
          EXPECT_EQ(std::fegetround(), FE_UPWARD);
          auto const end = std::chrono::steady_clock::now() + 100us;
          while (std::chrono::steady_clock::now() < end) {
          }
        });
      }
    });
  });
  nopal::wait_for(left);
  EXPECT_GE(source->looks - before, fibers / 2);
  EXPECT_EQ(source->in_regions, 0u);
  EXPECT_EQ(source->with_values, 0u);
  EXPECT_EQ(source->in_other_modes, 0u);
}

// A worker that waits in the source is woken for all other work.
TEST_P(events, keep_nobody_from_a_job) {
  nopal::pool pool{with_source()};
  for (int k = 0; k < 100; ++k) {
    if (k % 20 == 0) std::this_thread::sleep_for(3ms);
    EXPECT_EQ(pool.submit([] { return 7; }).get(), 7);
    EXPECT_EQ(pool.run([] { return 8; }), 8);
    nopal::counter fiber;
    pool.spawn(fiber, [] {
      nopal::sleep_for(100us);
      nopal::parallel_invoke([] { nopal::yield(); }, [] { nopal::yield(); });
    });
    nopal::wait_for(fiber);
  }
}

// Each worker forks until the fiber has run: the timer polls the source.
TEST_P(events, come_where_all_are_busy) {
  nopal::pool_options const o = with_source();
  nopal::pool pool{o};
  pipe_pair p;
  std::atomic<bool> came{false};
  nopal::counter fiber, busy;
  pool.spawn(fiber, [&] {
    source->await(p.read);
    came = true;
  });
  auto const end = std::chrono::steady_clock::now() + 1min;
  for (unsigned k = 0; k < o.workers; ++k) {
    pool.spawn(busy, [&] {
      while (!came && std::chrono::steady_clock::now() < end) nopal::parallel_invoke([] {}, [] {});
      EXPECT_TRUE(came);
    });
  }
  std::this_thread::sleep_for(5ms);
  p.put('x');
  nopal::wait_for(busy);
  nopal::wait_for(fiber);
}

// A fiber that only its worker may run: that worker forks until the fiber has run, and the other one, which is idle, waits in the source.
struct events_of_another : events {};

TEST_P(events_of_another, come_to_a_busy_worker) {
  nopal::pool pool{with_source()};
  if (pool.run([] { return nopal::core::current()->pool().takes_turns; })) GTEST_SKIP() << "workers that take turns leave it to the timer";
  pipe_pair p;
  std::atomic<bool> came{false};
  nopal::counter busy;
  auto const here = [] { return nopal::core::current()->index(); };
  auto const end = std::chrono::steady_clock::now() + 1min;
  pool.spawn(busy, [&] {
    nopal::counter readers;
    for (;;) {
      std::atomic<unsigned> began{~0U};
      nopal::spawn(readers, [&] {
        began = here();
        source->await(p.read);
        came = true;
      });
      while (began == ~0U) nopal::yield();
      if (began == here() || std::chrono::steady_clock::now() > end) break;
      p.put('x');  // an idle worker has taken it before it began
      nopal::wait_for(readers);
      EXPECT_EQ(p.take(), 'x');
      came = false;
    }
    std::thread later{[&] {
      std::this_thread::sleep_for(5ms);
      p.put('x');
    }};
    while (!came && std::chrono::steady_clock::now() < end) nopal::parallel_invoke([] {}, [] {});
    EXPECT_TRUE(came);
    later.join();
    nopal::wait_for(readers);
  });
  nopal::wait_for(busy);
}

// Fibers whose events have always come keep nothing else from its turn.
TEST_P(events_of_another, without_end_let_others_run) {
  nopal::pool_options o = with_source();
  o.workers = 1;
  nopal::pool pool{o};
  std::array<pipe_pair, 20> ready;
  std::atomic<unsigned> turns{0}, waited{0};
  std::atomic<bool> ran{false};
  nopal::counter fibers, other;
  auto const end = std::chrono::steady_clock::now() + 1min;
  auto const until_it_ran = [&](pipe_pair const& p) {
    while (!ran && std::chrono::steady_clock::now() < end) {
      source->await(p.read);
      for (auto const then = std::chrono::steady_clock::now() + 10us; std::chrono::steady_clock::now() < then;) {
      }
      if (unsigned const n = ++turns; n == 500) {
        nopal::spawn(other, [&, n] {
          waited = turns - n;
          ran = true;
        });
      }
    }
  };
  for (pipe_pair const& p : ready) {
    p.put('x');  // which nobody takes
    pool.spawn(fibers, [&] { until_it_ran(p); });
  }
  nopal::wait_for(fibers);
  nopal::wait_for(other);
  EXPECT_LT(waited, 1000u);
}

// Fibers hand a byte around a ring of pipes.
TEST_P(events, go_around) {
  nopal::pool pool{with_source()};
  constexpr std::size_t n = 8;
  std::array<pipe_pair, n> ring;
  nopal::counter fibers;
  for (std::size_t k = 0; k < n; ++k) {
    pool.spawn(fibers, [&, k] {
      for (int round = 0; round < 40; ++round) {
        source->await(ring[k].read);
        char const c = ring[k].take();
        if (k + 1 < n || round < 39) ring[(k + 1) % n].put(static_cast<char>(c + 1));
      }
    });
  }
  ring[0].put(0);
  nopal::wait_for(fibers);
}

// The counter on the stack of the one that waits must outlast the wait.
TEST_P(events, come_to_one_that_was_asked_to_stop) {
  nopal::pool pool{with_source()};
  pipe_pair p;
  std::stop_source stop;
  std::atomic<bool> begun{false};
  auto byte = pool.submit(stop.get_token(), [&] {
    begun = true;
    source->await(p.read);
    EXPECT_TRUE(nopal::stop_requested());
    return p.take();
  });
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(5ms);
  stop.request_stop();
  std::this_thread::sleep_for(5ms);
  p.put('x');
  EXPECT_EQ(byte.get(), 'x');
}

TEST(events_at_rest, are_refused_on_a_simulated_machine) {
  nopal::pool_options o{.workers = 2};
  o.experimental.events = std::make_shared<epoll>();
  o.experimental.simulate = "2";
  EXPECT_THROW(nopal::pool{o}, std::invalid_argument);
}

// One worker has offered work and runs on: the other stays a thief, and does not enter the source again and again.
TEST(events_at_rest, let_the_last_thief_nap) {
  auto const source = std::make_shared<epoll>();
  nopal::pool pool{{.workers = 2, .experimental = {.events = source}}};
  std::uint64_t sleeps = 0;
  pool.submit([&] {
        nopal::parallel_invoke(
            [&] {
              auto const before = pool.stats().sleeps;
              std::this_thread::sleep_for(100ms);
              sleeps = pool.stats().sleeps - before;
            },
            [] {});
      })
      .get();
  EXPECT_LE(sleeps, 2u);  // 1,000 if it does: one each 0.1 ms
}

TEST(events_at_rest, are_waited_for_in_the_source) {
  auto const source = std::make_shared<epoll>();
  nopal::pool pool{{.workers = 2, .experimental = {.events = source}}};
  if (pool.run([] { return nopal::core::current()->pool().takes_turns; })) GTEST_SKIP() << "workers that take turns leave it to the timer";
  auto const end = std::chrono::steady_clock::now() + 1min;
  while (source->waits == 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  EXPECT_GT(source->waits, 0u);
}

INSTANTIATE_TEST_SUITE_P(pools, events, testing::Range(0, 6));
INSTANTIATE_TEST_SUITE_P(pools_in_which_stacks_stay, events_of_another, testing::Values(3, 5));

// A victim function of the program: it chooses each worker alike, and sometimes the thief itself, or none.
TEST(victims_by_function, are_tried) {
  std::atomic<unsigned> asked{0};
  nopal::pool_options o{.workers = 3};
  o.experimental.choose_victim = [&asked](unsigned, unsigned workers, std::uint64_t random) {
    ++asked;
    return static_cast<unsigned>(random % (workers + 1));
  };
  nopal::pool pool{o};
  std::atomic<bool> stolen{false};
  auto const end = std::chrono::steady_clock::now() + 1min;
  pool.run([&] {
    nopal::parallel_invoke(
        [&] {
          while (!stolen && std::chrono::steady_clock::now() < end) {
          }
        },
        [&] { stolen = true; });
  });
  EXPECT_GT(asked, 0u);
  EXPECT_GT(pool.stats().steals, 0u);
}

}  // namespace
