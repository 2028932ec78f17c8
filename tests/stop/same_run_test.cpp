// Under a controlled schedule an equal seed gives an equal run, and no turn is lost, also if requests to stop meet waits, time limits and
// sleeps. The order of events is compared; a run is repeated if the machine has taken a turn.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "nopal/channel.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/pool.hpp"
#include "nopal/semaphore.hpp"
#include "nopal/stats.hpp"
#include "nopal/stop.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::schedule;

// One worker runs at a time, and the turn orders them: so this needs no lock. A lock of the program would lose turns.
using events = std::string;
void note(events& e, char what) {
  e += what;
  e += static_cast<char>('0' + nopal::this_worker::index());
}

// A counter that all programs wait for, in a region where no wait ends early.
void wait(nopal::counter& left) {
  nopal::without_stop([&] { nopal::wait_for(left); });
}

// Fibers wait, each in another way, for what does not happen. Without a region a pool's request ends only waits with a time limit: the
// first two of the `ways`.
void spawn_waiters(nopal::counter& left, events& e, nopal::semaphore& never, nopal::channel<int>& empty, int ways) {
  for (int k = 0; k < 6; ++k) {
    nopal::spawn(left, [&, k, ways] {  // `ways` is this call's, which has returned before they run
      note(e, static_cast<char>('a' + k));
      try {
        if (k % ways == 0) nopal::sleep_for(1h);
        if (k % ways == 1) never.try_acquire_for(1h);
        if (k % ways == 2) empty.pop();
      } catch (nopal::stopped const&) {
      }
      note(e, static_cast<char>('A' + k));
    });
  }
}

// A callback of the standard library's token makes the request.
void a_token(nopal::pool&, events& e) {
  std::stop_source source;
  nopal::semaphore never{0};
  nopal::channel<int> empty{1};
  nopal::counter left;
  nopal::with_stop(source.get_token(), [&] { spawn_waiters(left, e, never, empty, 3); });
  nopal::spawn(left, [&] {
    note(e, 'r');
    source.request_stop();
    note(e, 'R');
  });
  wait(left);
}

// The lock of the request is held while each waiter is woken, and those that leave wait for it.
void a_pool(nopal::pool& pool, events& e) {
  nopal::semaphore never{0};
  nopal::channel<int> empty{1};
  nopal::counter left;
  spawn_waiters(left, e, never, empty, 2);
  nopal::spawn(left, [&] {
    note(e, 'r');
    pool.request_stop();
    note(e, 'R');
  });
  wait(left);
}

// The timer wakes the sleepers once all sleep: at rest, in the order in which they began. They sleep for longer than a worker may keep its turn
// before it is said to be lost.
void sleeps(nopal::pool&, events& e) {
  nopal::semaphore never{0};
  nopal::counter left;
  for (int k = 0; k < 6; ++k) {
    nopal::spawn(left, [&, k] {
      note(e, static_cast<char>('a' + k));
      if (k % 2 == 0) nopal::sleep_for(80ms);
      if (k % 2 == 1) never.try_acquire_for(80ms);
      note(e, static_cast<char>('A' + k));
    });
  }
  wait(left);
}

// Fibers that look repeatedly until another has run.
void yields(nopal::pool&, events& e) {
  std::atomic<int> passed{0};
  nopal::counter left;
  for (int k = 0; k < 4; ++k) {
    nopal::spawn(left, [&, k] {
      note(e, static_cast<char>('a' + k));
      ++passed;
      while (passed < 4) nopal::yield();
      note(e, static_cast<char>('A' + k));
    });
  }
  wait(left);
}

struct choice {
  schedule how;
  std::uint64_t seed;
  unsigned workers;
};

// The order of events; empty if a turn was lost.
template <class Program>
std::optional<events> run(Program program, int rounds, choice const& c) {
  nopal::pool pool{{.workers = c.workers, .seed = c.seed, .schedule = c.how}};
  events e;
  pool.run([&] {
    for (int k = 0; k < rounds; ++k) program(pool, e);
  });
  if (pool.stats().lost_turns != 0) return std::nullopt;
  return e;
}

template <class Program>
void has_the_same_runs(Program program, int rounds) {
  for (schedule const how : {schedule::steal_at_random, schedule::steal_always, schedule::by_priority, schedule::steal_never}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      for (unsigned const workers : {2u, 4u}) {
        std::optional<events> first;
        int compared = 0;
        for (int tries = 0; compared < 3 && tries < 30; ++tries) {
          std::optional<events> const now = run(program, rounds, {how, seed, workers});
          if (!now) continue;
          ++compared;
          if (!first) first = now;
          EXPECT_EQ(*first, *now) << "schedule " << static_cast<int>(how) << ", seed " << seed << ", " << workers << " workers";
        }
        EXPECT_EQ(compared, 3) << "turns were lost: schedule " << static_cast<int>(how) << ", seed " << seed << ", " << workers
                               << " workers";
      }
    }
  }
}

TEST(same_run, where_a_token_stops_what_waits) { has_the_same_runs(a_token, 3); }
TEST(same_run, where_a_pool_stops_what_waits) { has_the_same_runs(a_pool, 3); }
TEST(same_run, where_the_timer_wakes_what_sleeps) { has_the_same_runs(sleeps, 1); }
TEST(same_run, where_fibers_yield_until_others_have_run) { has_the_same_runs(yields, 3); }

}  // namespace
