// Critical sections on a simulated machine take at least the sum of their times: a strand that acquires runs no earlier than the release,
// whether it waits or not. The bodies are measured by the clock of their simulated worker, as the whole is: what a switch between threads costs
// this machine is in neither.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <shared_mutex>

#include <nopal/core/base/own_mutex.hpp>
#include <nopal/core/base/virtual_time.hpp>

#include "simulated_pool.hpp"

namespace {

// Some 10 µs: far less than a slice, so that a worker most likely runs it to its end before another has the turn.
std::int64_t work() {
  auto const begun = nopal::core::simulated_now();
  std::uint64_t volatile x = 1;
  for (int k = 0; k < 15'000; ++k) x = x * 3 + 1;
  return (nopal::core::simulated_now() - begun).count();
}

// 256 bodies, each wholly between `acquire` and `release`, on 16 workers.
void expect_one_after_the_other(std::function<void()> const& acquire, std::function<void()> const& release) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("16")};
  std::int64_t sum = 0;
  p.run([&] {
    nopal::parallel_for(
        0, 256,
        [&](int) {
          acquire();
          sum += work();
          release();
        },
        nopal::grain{1});
  });
  EXPECT_GE(nopal::simulated(p)->elapsed.count(), sum);
}

TEST(one_after_the_other, below_a_mutex) {
  nopal::mutex m;
  expect_one_after_the_other([&] { m.lock(); }, [&] { m.unlock(); });
}
TEST(one_after_the_other, below_a_mutex_that_is_tried) {
  nopal::mutex m;
  expect_one_after_the_other(
      [&] {
        while (!m.try_lock()) nopal::yield();
      },
      [&] { m.unlock(); });
}
TEST(one_after_the_other, below_a_timed_mutex) {
  nopal::timed_mutex m;
  expect_one_after_the_other([&] { m.lock(); }, [&] { m.unlock(); });
}
TEST(one_after_the_other, below_a_shared_mutex) {
  nopal::shared_mutex m;
  expect_one_after_the_other([&] { m.lock(); }, [&] { m.unlock(); });
}
TEST(one_after_the_other, with_a_permit) {
  nopal::semaphore s{1};
  expect_one_after_the_other([&] { s.acquire(); }, [&] { s.release(); });
}
TEST(one_after_the_other, with_a_token_from_a_channel) {
  nopal::channel<int> ch{1};
  ch.push(1);
  expect_one_after_the_other([&] { static_cast<void>(ch.pop()); }, [&] { ch.push(1); });
}
TEST(one_after_the_other, by_a_condition) {
  nopal::mutex m;
  nopal::condition_variable changed;
  bool taken = false;
  expect_one_after_the_other(
      [&] {
        std::unique_lock lock{m};
        changed.wait(lock, [&] { return !taken; });
        taken = true;
      },
      [&] {
        std::lock_guard const guard{m};
        taken = false;
        changed.notify_one();
      });
}

// A chain: each strand waits for the one before.
template <class Wait, class Tell>
void expect_a_chain(Wait wait, Tell tell) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("16")};
  constexpr int links = 64;
  std::atomic<std::int64_t> sum{0};
  p.run([&] {
    nopal::counter all;
    for (int k = 0; k < links; ++k) {
      nopal::spawn(all, [&, k] {
        if (k > 0) wait(k - 1);
        sum += work();
        tell(k);
      });
    }
    nopal::wait_for(all);
  });
  EXPECT_GE(nopal::simulated(p)->elapsed.count(), sum);
}

TEST(a_chain, of_counters) {
  std::vector<std::unique_ptr<nopal::counter>> c;
  for (int k = 0; k < 64; ++k) c.push_back(std::make_unique<nopal::counter>(1));
  expect_a_chain([&](int k) { nopal::wait_for(*c[static_cast<std::size_t>(k)]); }, [&](int k) { c[static_cast<std::size_t>(k)]->done(); });
}
TEST(a_chain, of_latches) {
  std::vector<std::unique_ptr<nopal::latch>> c;
  for (int k = 0; k < 64; ++k) c.push_back(std::make_unique<nopal::latch>(1));
  expect_a_chain([&](int k) { c[static_cast<std::size_t>(k)]->wait(); }, [&](int k) { c[static_cast<std::size_t>(k)]->count_down(); });
}

// Four strands meet 20 times, and one works in each phase.
TEST(phases, come_one_after_the_other) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("4")};
  nopal::barrier<> meet{4};
  std::atomic<std::int64_t> sum{0};
  p.run([&] {
    nopal::counter all;
    for (int k = 0; k < 4; ++k) {
      nopal::spawn(all, [&, k] {
        for (int phase = 0; phase < 20; ++phase) {
          if (phase % 4 == k) sum += work();
          meet.arrive_and_wait();
        }
      });
    }
    nopal::wait_for(all);
  });
  EXPECT_GE(nopal::simulated(p)->elapsed.count(), sum);
}

// Only the first caller works. Callers at the same time wait for it, and later callers run no earlier than its end.
TEST(whoever_calls_once, goes_on_after_the_first) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("16")};
  std::vector<nopal::once_flag> flags(64);
  std::int64_t sum = 0;
  p.run([&] {
    nopal::parallel_for(
        0, 16,
        [&](int) {
          for (nopal::once_flag& f : flags) nopal::call_once(f, [&] { sum += work(); });
        },
        nopal::grain{1});
  });
  EXPECT_GE(nopal::simulated(p)->elapsed.count(), sum);
}

// The simulation sees a lock of the program only if a worker really waits for it, which depends on when this machine's clock interrupts the
// holder. Then the report says so, and the wait is not counted as work.
TEST(a_lock_of_the_programs, is_told_of_and_its_wait_is_no_work) {
  with_costs const costs{"report=/dev/null"};
  for (int tries = 0; tries < 100; ++tries) {
    nopal::pool p{machine("8")};
    std::mutex m;
    std::atomic<bool> held{false};
    std::int64_t sum = 0;
    p.run([&] {
      nopal::parallel_for(
          0, 8,
          [&](int k) {
            while (k != 0 && !held) nopal::yield();
            std::lock_guard const guard{m};
            held = true;
            for (int n = 0; n < 100; ++n) sum += work();
          },
          nopal::grain{1});
    });
    nopal::simulation_report const r = nopal::simulated(p).value();
    if (r.lost_turns < 4) continue;
    EXPECT_LT(r.working.count(), 2 * sum);
    return;
  }
  ADD_FAILURE() << "in no run a worker has waited";
}

// As of malloc's lock, whose holder may be stopped: signals do not stop whoever waits for it below a lock of the library, and yet it gives up
// the turn.
TEST(a_lock_of_the_programs, may_be_waited_for_below_one_of_the_library) {
  with_costs const costs{"report=/dev/null"};
  for (int tries = 0; tries < 100; ++tries) {
    nopal::pool p{machine("2")};
    std::mutex m;
    nopal::core::own_mutex of_the_library;
    std::atomic<bool> held{false};
    p.run([&] {
      nopal::parallel_invoke(
          [&] {
            std::lock_guard const guard{m};
            held = true;
            for (int n = 0; n < 100; ++n) work();
          },
          [&] {
            while (!held) nopal::yield();
            std::lock_guard const outer{of_the_library};
            std::lock_guard const guard{m};
          });
    });
    if (nopal::simulated(p)->lost_turns > 0) return;
  }
  ADD_FAILURE() << "in no run a worker has waited";
}

}  // namespace
