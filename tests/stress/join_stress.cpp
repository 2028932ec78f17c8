// The join word, with all events at once.

#include "nopal/core/deque/join_word.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../scale.hpp"
#include "nopal/core/base/random.hpp"

namespace {

using nopal::core::rng;
using nopal::core::std_sync;

/// Threads stop at random before every access to the word.
struct chaos_sync : std_sync {
  static inline thread_local rng random{0};
  static void hesitate() noexcept {
    std::uint64_t const r = random();
    if ((r & 7) == 0) return std_sync::yield();
    if ((r & 7) < 4) {
      for (std::uint64_t k = r >> 3 & 127; k != 0; --k) std_sync::relax();
    }
  }

  template <class T>
  class atomic {
   public:
    explicit atomic(T v) noexcept : value_{v} {}
    T load(std::memory_order o) noexcept { return hesitate(), value_.load(o); }
    void store(T v, std::memory_order o) noexcept { hesitate(), value_.store(v, o); }
    T fetch_add(T v, std::memory_order o) noexcept { return hesitate(), value_.fetch_add(v, o); }
    T fetch_sub(T v, std::memory_order o) noexcept { return hesitate(), value_.fetch_sub(v, o); }
    T fetch_or(T v, std::memory_order o) noexcept { return hesitate(), value_.fetch_or(v, o); }
    T fetch_and(T v, std::memory_order o) noexcept { return hesitate(), value_.fetch_and(v, o); }

   private:
    std::atomic<T> value_;
  };
};

using word = nopal::core::basic_join_word<chaos_sync>;

/// One parent and its children in one scope after another; some of them record first.
void join_again_and_again(unsigned children, long scopes) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed) + ", children " + std::to_string(children));

  word join;
  std::vector<long> result(children + 1);  // plain: they must be visible to the thread that completes the scope
  std::atomic<unsigned> completions{0};
  std::atomic<unsigned> recorders{0};
  long records = 0;  // plain: one recorder at a time
  long first_records = 0;
  long wrong = 0;
  long not_once = 0;

  std::barrier begin{children + 1};
  std::barrier end{children + 1};
  auto const complete = [&](long scope) {
    completions.fetch_add(1, std::memory_order_relaxed);
    for (long const r : result) wrong += r != scope;
    unsigned const n = recorders.exchange(0, std::memory_order_relaxed);
    wrong += records != n;
    wrong += first_records != (n != 0 ? 1 : 0);
    wrong += join.reset() != (n != 0);
    records = first_records = 0;
  };
  auto const live = [&](unsigned self) {
    chaos_sync::random = rng{seed, self};
    for (long scope = 1; scope <= scopes; ++scope) {
      begin.arrive_and_wait();
      if (chaos_sync::random() % 2 == 0) {
        recorders.fetch_add(1, std::memory_order_relaxed);
        join.record([&](bool before) {
          ++records;
          first_records += !before;
        });
      }
      result[self] = scope;
      if (self == 0 ? join.announce(children) : join.arrive()) complete(scope);
      end.arrive_and_wait();
      if (self == 0) not_once += completions.exchange(0, std::memory_order_relaxed) != 1;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i <= children; ++i) threads.emplace_back(live, i);
  live(0);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(not_once, 0);
  EXPECT_EQ(wrong, 0);
}

TEST(join_stress, the_parent_or_its_only_child_completes_the_scope) { join_again_and_again(1, test::scaled(60'000, 5)); }
TEST(join_stress, exactly_one_of_the_parent_and_two_children_completes_the_scope) { join_again_and_again(2, test::scaled(40'000, 5)); }
TEST(join_stress, exactly_one_of_the_parent_and_four_children_completes_the_scope) { join_again_and_again(4, test::scaled(20'000, 5)); }

}  // namespace
