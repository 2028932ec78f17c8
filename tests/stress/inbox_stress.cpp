// The inbox with many producers and several takers.

#include "nopal/core/sleep/inbox.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../scale.hpp"
#include "nopal/core/base/random.hpp"

namespace {

using nopal::core::resumable;
using nopal::core::rng;
using nopal::core::std_sync;

/// Threads stop at random before every access to the head.
struct chaos_sync : std_sync {
  static inline thread_local rng random{0};
  static void hesitate() noexcept {
    std::uint64_t const r = random();
    if ((r & 15) == 0) return std_sync::yield();
    if ((r & 15) < 4) {
      for (std::uint64_t k = r >> 4 & 127; k != 0; --k) std_sync::relax();
    }
  }

  template <class T>
  class atomic {
   public:
    explicit atomic(T v) noexcept : value_{v} {}
    T load(std::memory_order o) const noexcept { return hesitate(), value_.load(o); }
    T exchange(T v, std::memory_order o) noexcept { return hesitate(), value_.exchange(v, o); }
    bool compare_exchange_weak(T& expected, T v, std::memory_order o, std::memory_order failure) noexcept {
      return hesitate(), value_.compare_exchange_weak(expected, v, o, failure);
    }

   private:
    std::atomic<T> value_;
  };
};

using inbox = nopal::core::basic_inbox<chaos_sync>;

struct parcel : resumable {
  std::size_t producer = 0;
  long number = 0;
  long taken = 0;  // plain: only its taker may touch it
};

TEST(inbox_stress, nothing_is_lost_or_doubled_and_each_producer_keeps_its_order) {
  constexpr std::size_t producers = 4;
  constexpr std::size_t takers = 3;
  auto const each = static_cast<std::size_t>(test::scaled(200'000, 5));
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));

  inbox box;
  std::vector<std::vector<parcel>> sent(producers, std::vector<parcel>(each));
  std::atomic<std::size_t> received{0};
  std::atomic<long> disordered{0};
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      chaos_sync::random = rng{seed, p};
      for (std::size_t i = 0; i < each; ++i) {
        parcel& x = sent[p][i];
        x.producer = p;
        x.number = static_cast<long>(i) + 1;
        box.push(&x);
      }
    });
  }
  for (std::size_t t = 0; t < takers; ++t) {
    threads.emplace_back([&, t] {
      chaos_sync::random = rng{seed, producers + t};
      long last[producers] = {};
      while (received.load(std::memory_order_relaxed) < producers * each) {
        std::size_t n = 0;
        for (resumable* j = box.take_all(); j != nullptr; j = j->next, ++n) {
          auto& x = *static_cast<parcel*>(j);
          ++x.taken;
          if (x.number <= last[x.producer]) disordered.fetch_add(1, std::memory_order_relaxed);
          last[x.producer] = x.number;
        }
        if (n == 0) std::this_thread::yield();
        received.fetch_add(n, std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(received.load(), producers * each);
  EXPECT_EQ(disordered.load(), 0);
  long not_once = 0;
  for (auto const& all : sent) {
    for (parcel const& x : all) not_once += x.taken != 1;
  }
  EXPECT_EQ(not_once, 0);
}

// A few jobs circulate, so that the head often has its old value again, in another list.
TEST(inbox_stress, jobs_that_are_pushed_again_are_neither_lost_nor_doubled) {
  constexpr std::size_t jobs = 4;
  constexpr std::size_t workers = 3;
  long const rounds = test::scaled(100'000, 5);
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));

  inbox box;
  std::vector<parcel> parcels(jobs);
  for (parcel& x : parcels) box.push(&x);
  std::atomic<std::size_t> finished{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < workers; ++t) {
    threads.emplace_back([&, t] {
      chaos_sync::random = rng{seed, t};
      while (finished.load(std::memory_order_relaxed) < jobs) {
        resumable* next = nullptr;
        for (resumable* j = box.take_all(); j != nullptr; j = next) {
          next = j->next;
          if (++static_cast<parcel*>(j)->taken < rounds) {
            box.push(j);
          } else {
            finished.fetch_add(1, std::memory_order_relaxed);
          }
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(finished.load(), jobs);
  for (parcel const& x : parcels) EXPECT_EQ(x.taken, rounds);
}

}  // namespace
