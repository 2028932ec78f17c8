#include "nopal/core/sleep/parking.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace {

using namespace std::chrono_literals;
using nopal::core::std_sync;
using steady = std::chrono::steady_clock;

constexpr auto yes = [] { return true; };
constexpr auto no = [] { return false; };

/// Polls: false if nothing happens for too long.
template <class Condition>
bool eventually(Condition&& happened) {
  for (auto const deadline = steady::now() + 10s; !happened(); std::this_thread::yield()) {
    if (steady::now() > deadline) return false;
  }
  return true;
}

constexpr std::array<unsigned, 2> one_node{0, 0};
constexpr std::array<unsigned, 4> two_nodes{0, 0, 1, 1};

/// A worker's thread that parks once. The test must wake it before its end.
template <class Parking = nopal::core::parking>
class sleeper {
 public:
  sleeper(Parking& p, unsigned i) : parking_{p}, index_{i} {
    thread_ = std::thread{[this] {
      parking_.start_searching(index_);
      parking_.park(index_, no);
      up_ = true;
    }};
    EXPECT_TRUE(eventually([this] { return parking_.is_parked(index_); }));
  }
  sleeper(sleeper const&) = delete;
  ~sleeper() {
    parking_.notify(index_);
    thread_.join();
  }
  bool gets_up() const {
    return eventually([this] { return up_.load(); });
  }
  bool sleeps() const { return !up_ && parking_.is_parked(index_); }

 private:
  Parking& parking_;
  unsigned index_;
  std::atomic<bool> up_{false};
  std::thread thread_;
};

TEST(parking, there_is_demand_until_it_is_retracted) {
  nopal::core::parking p{one_node};
  EXPECT_FALSE(p.visible_work());
  p.offer();
  p.add();
  EXPECT_TRUE(p.visible_work());
  p.retract(2);
  EXPECT_FALSE(p.visible_work());
}

TEST(parking, who_is_awake_can_be_neither_notified_nor_borrowed) {
  nopal::core::parking p{one_node};
  p.start_searching(0);
  EXPECT_FALSE(p.is_parked(0));
  EXPECT_FALSE(p.notify(0));
  EXPECT_FALSE(p.occupy(0));
}

TEST(parking, the_only_thief_stays_while_there_is_demand) {
  nopal::core::parking p{one_node};
  p.offer();
  p.start_searching(0);
  EXPECT_FALSE(p.park(0, no));
  EXPECT_FALSE(p.is_parked(0));
}

TEST(parking, a_thief_stays_if_it_must) {
  nopal::core::parking p{one_node};
  p.start_searching(0);
  EXPECT_FALSE(p.park(0, yes));
  EXPECT_FALSE(p.is_parked(0));
}

TEST(parking, a_second_thief_may_sleep_in_spite_of_demand) {
  nopal::core::parking p{one_node};
  p.offer();
  p.start_searching(0);
  sleeper const second{p, 1};
  EXPECT_TRUE(second.sleeps());
}

TEST(parking, notify_gets_up_who_sleeps) {
  nopal::core::parking p{one_node};
  sleeper const s{p, 0};
  EXPECT_TRUE(p.notify(0));
  EXPECT_TRUE(s.gets_up());
  EXPECT_FALSE(p.notify(0));
}

TEST(parking, an_offer_wakes_one_worker_of_every_node) {
  nopal::core::parking p{two_nodes};
  sleeper const a{p, 0}, b{p, 1}, c{p, 2}, d{p, 3};
  p.offer();
  EXPECT_TRUE(a.gets_up());
  EXPECT_TRUE(c.gets_up());
  EXPECT_TRUE(b.sleeps());
  EXPECT_TRUE(d.sleeps());
}

TEST(parking, an_offer_wakes_nobody_where_somebody_looks) {
  nopal::core::parking p{two_nodes};
  p.start_searching(0);
  sleeper const b{p, 1}, c{p, 2};
  p.offer();
  EXPECT_TRUE(c.gets_up());
  EXPECT_TRUE(b.sleeps());
}

TEST(parking, who_has_much_wakes_several_of_its_own_node_first) {
  nopal::core::parking p{two_nodes};
  p.start_searching(0);
  sleeper const b{p, 1}, c{p, 2}, d{p, 3};
  p.wake_several(0, 1, 9);
  EXPECT_TRUE(b.sleeps());  // one searches already
  p.wake_several(0, 2, 9);
  EXPECT_TRUE(b.gets_up());
  EXPECT_TRUE(c.sleeps());
  EXPECT_TRUE(d.sleeps());
}

TEST(parking, who_has_more_than_its_node_can_do_wakes_some_of_others) {
  nopal::core::parking p{two_nodes};
  sleeper const a{p, 0}, b{p, 1}, c{p, 2}, d{p, 3};
  p.wake_several(2, 4, 1);
  EXPECT_TRUE(c.gets_up());
  EXPECT_TRUE(a.gets_up());
  EXPECT_TRUE(b.sleeps());
  EXPECT_TRUE(d.sleeps());
}

TEST(parking, the_last_thief_leaves_a_successor_while_there_is_demand) {
  nopal::core::parking p{one_node};
  p.start_searching(0);
  p.offer();
  sleeper const b{p, 1};
  p.stop_searching(0);
  EXPECT_TRUE(b.gets_up());
}

TEST(parking, without_demand_the_last_thief_leaves_nobody) {
  nopal::core::parking p{one_node};
  p.start_searching(0);
  sleeper const b{p, 1};
  p.stop_searching(0);
  EXPECT_TRUE(b.sleeps());
}

TEST(parking, a_job_wakes_the_worker_it_is_for) {
  nopal::core::parking p{two_nodes};
  sleeper const a{p, 0}, d{p, 3};
  p.add();
  p.announce(3);
  EXPECT_TRUE(d.gets_up());
  EXPECT_TRUE(a.sleeps());
}

TEST(parking, a_job_for_a_busy_worker_wakes_another_even_of_another_node) {
  nopal::core::parking p{two_nodes};
  sleeper const d{p, 3};
  p.add();
  p.announce(0);
  EXPECT_TRUE(d.gets_up());
}

TEST(parking, a_job_wakes_nobody_where_somebody_looks) {
  nopal::core::parking p{two_nodes};
  p.start_searching(0);
  sleeper const b{p, 1};
  p.add();
  p.announce(1);
  EXPECT_TRUE(b.sleeps());
}

TEST(parking, a_lent_worker_sleeps_until_it_is_given_back) {
  nopal::core::parking p{one_node};
  sleeper const s{p, 0};
  ASSERT_TRUE(p.occupy(0));
  EXPECT_FALSE(p.occupy(0));
  EXPECT_FALSE(p.notify(0));
  p.vacate(0, no);
  EXPECT_TRUE(s.sleeps());
  EXPECT_TRUE(p.notify(0));
  EXPECT_TRUE(s.gets_up());
}

TEST(parking, giving_back_gets_up_who_must) {
  nopal::core::parking p{one_node};
  sleeper const s{p, 0};
  ASSERT_TRUE(p.occupy(0));
  p.vacate(0, yes);
  EXPECT_TRUE(s.gets_up());
}

TEST(parking, giving_back_gets_up_a_thief_if_there_is_demand_and_none) {
  nopal::core::parking p{one_node};
  sleeper const s{p, 0};
  ASSERT_TRUE(p.occupy(0));
  p.offer();
  p.vacate(0, no);
  EXPECT_TRUE(s.gets_up());
}

/// A machine on which a thread can be stopped before it counts thieves, and sleepers wake for no reason.
struct slow_counter : std_sync {
  static inline thread_local std::function<void()> before_counting;

  template <class T>
  struct atomic : std::atomic<T> {
    using std::atomic<T>::atomic;
  };
  static void wait(std::atomic<std::uint32_t>&, std::uint32_t) noexcept { yield(); }
};
template <>
struct slow_counter::atomic<int> : std::atomic<int> {
  using std::atomic<int>::atomic;
  int fetch_add(int n, std::memory_order o) noexcept {
    if (before_counting) std::exchange(before_counting, nullptr)();
    return std::atomic<int>::fetch_add(n, o);
  }
};

TEST(parking, who_is_up_before_it_was_counted_still_wakes_a_thief_by_its_offer) {
  using parking = nopal::core::basic_parking<slow_counter>;
  parking p{one_node};
  std::atomic<bool> offered{false};
  std::thread worker{[&] {
    p.start_searching(0);
    p.park(0, no);
    p.stop_searching(0);  // it found what it was woken for, and that
    p.offer();            // has something for others
    offered = true;
  }};
  EXPECT_TRUE(eventually([&] { return p.is_parked(0); }));
  sleeper<parking> const thief{p, 1};
  slow_counter::before_counting = [&] {
    if (!p.is_parked(0)) eventually([&] { return offered.load(); });
  };
  EXPECT_TRUE(p.notify(0));
  EXPECT_TRUE(thief.gets_up()) << "there is demand, but everybody sleeps";
  worker.join();
}

TEST(parking, who_is_up_before_it_was_counted_stays_up_while_there_is_demand) {
  using parking = nopal::core::basic_parking<slow_counter>;
  parking p{one_node};
  std::atomic<bool> stayed{false};
  std::atomic<bool> over{false};
  std::thread worker{[&] {
    p.start_searching(0);
    p.park(0, no);
    stayed = !p.park(0, no);  // it did not find what it was woken for, but there is demand
    over = true;
  }};
  EXPECT_TRUE(eventually([&] { return p.is_parked(0); }));
  p.add();
  slow_counter::before_counting = [&] {
    if (!p.is_parked(0)) eventually([&] { return over.load(); });
  };
  EXPECT_TRUE(p.notify(0));
  EXPECT_TRUE(eventually([&] { return over.load(); })) << "there is demand, but everybody sleeps";
  p.notify(0);
  worker.join();
  EXPECT_TRUE(stayed);
}

}  // namespace
