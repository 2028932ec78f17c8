// combinable: what combine moves and what it copies, and that it never returns an invalid answer.

#include <gtest/gtest.h>

#include <any>
#include <atomic>
#include <barrier>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/combinable.hpp"
#include "nopal/algorithm/parallel_for.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/pool.hpp"

namespace {

/// Calls f(1), f(2) and f(3) on three threads that live at once, and so have three objects.
template <class F>
void on_three_threads(F f) {
  std::barrier<> all{3};
  std::vector<std::thread> threads;
  for (int i = 1; i <= 3; ++i) {
    threads.emplace_back([&, i] {
      f(i);
      all.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

struct counts_copies {
  explicit counts_copies(int v) : value{v} {}
  counts_copies(const counts_copies& other) : value{other.value} { ++copies; }
  counts_copies(counts_copies&& other) noexcept : value{std::exchange(other.value, -100)} {}
  counts_copies& operator=(const counts_copies& other) {
    value = other.value;
    ++copies;
    return *this;
  }
  counts_copies& operator=(counts_copies&& other) noexcept {
    value = std::exchange(other.value, -100);
    return *this;
  }
  int value;
  static inline int copies = 0;
};

TEST(combinable, moves_what_it_combines) {
  nopal::combinable<counts_copies> local{[] { return counts_copies{0}; }};
  on_three_threads([&](int i) { local.local().value = i; });
  counts_copies::copies = 0;
  const auto add = [](counts_copies a, const counts_copies& b) {
    a.value += b.value;
    return a;
  };
  EXPECT_EQ(std::as_const(local).combine(add).value, 6);
  EXPECT_EQ(std::as_const(local).combine(add).value, 6) << "they have stayed";
  EXPECT_EQ(counts_copies::copies, 2) << "of the first, each time";
  counts_copies::copies = 0;
  EXPECT_EQ(local.combine(add).value, 6);
  EXPECT_EQ(counts_copies::copies, 0);
  int left = 0;
  local.combine_each([&](const counts_copies&) { ++left; });
  EXPECT_EQ(left, 0);
  on_three_threads([&](int i) { local.local().value = i; });
  EXPECT_EQ(local.combine([](counts_copies a, counts_copies b) { return counts_copies{a.value + b.value}; }).value, 6);
  EXPECT_EQ(counts_copies::copies, 0) << "both operands are moved";
}

TEST(combinable, combines_what_can_only_be_moved) {
  nopal::combinable<std::unique_ptr<int>> local{[] { return std::make_unique<int>(0); }};
  on_three_threads([&](int i) { *local.local() = i; });
  const auto add = [](std::unique_ptr<int> a, std::unique_ptr<int> b) {
    *a += *b;
    return a;
  };
  EXPECT_EQ(*local.combine(add), 6);
  local.clear();
  EXPECT_EQ(*local.combine(add), 0) << "what an object begins as";
  nopal::combinable<test::only_moves> numbers{[] { return test::only_moves{5}; }};
  on_three_threads([&](int i) { *numbers.local().value += i; });
  EXPECT_EQ(numbers.combine([](test::only_moves a, const test::only_moves& b) { return test::only_moves{a.get() + b.get()}; }).get(), 21);
}

// Numbers stay, so that several operations are possible. If the objects are gone, no caller gets their initial value as an answer.
TEST(combinable, a_second_combine_is_right_or_refused) {
  nopal::combinable<int> numbers;
  on_three_threads([&](int i) { numbers.local() = i; });
  EXPECT_EQ(numbers.combine(std::plus<>{}), 6);
  EXPECT_EQ(numbers.combine([](int a, int b) { return std::max(a, b); }), 3);
  nopal::combinable<std::string> texts;
  EXPECT_EQ(texts.combine(std::plus<>{}), "");
  on_three_threads([&](int i) { texts.local() = std::to_string(i); });
  EXPECT_EQ(texts.combine(std::plus<>{}).size(), 3U);
  EXPECT_THROW(static_cast<void>(texts.combine(std::plus<>{})), std::logic_error);
  texts.local() = "again";
  EXPECT_EQ(texts.combine(std::plus<>{}), "again");
  texts.clear();
  EXPECT_EQ(texts.combine(std::plus<>{}), "");
  on_three_threads([&](int i) { texts.local() = std::to_string(i); });
  const auto throws = [](const std::string&, const std::string&) -> std::string { throw test::thrown{1}; };
  EXPECT_THROW(static_cast<void>(texts.combine(throws)), test::thrown);
  EXPECT_THROW(static_cast<void>(texts.combine(std::plus<>{})), std::logic_error) << "half of them would be no answer";
}

/// Can be made from anything; from a non-const object in another way than from a const one.
struct greedy {
  greedy() = default;
  explicit greedy(int v, int) : value{v} {}
  greedy(const greedy&) = default;
  greedy(greedy&&) = default;
  greedy& operator=(const greedy&) = default;
  greedy& operator=(greedy&&) = default;
  template <class U>
  greedy(U&&) : value{-1} {}  // NOLINT
  int value = 0;
};
struct unassignable {
  const int value;
};

// What makes the object waits, and continues on another worker: whose object it is then.
TEST(combinable, belongs_to_the_worker_that_has_made_it) {
  nopal::pool pool{{.workers = 2}};
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> moves{true};
    nopal::combinable<long> objects{[&moves] {
      if (moves.exchange(false)) {
        unsigned const before = nopal::this_worker::index();
        for (int tries = 0; tries < 10'000 && nopal::this_worker::index() == before; ++tries) nopal::yield();
      }
      return 0L;
    }};
    pool.run([&] {
      nopal::counter others;
      std::atomic<bool> done{false};
      nopal::spawn(others, [&] {
        while (!done) nopal::yield();
      });
      long* const mine = &objects.local();
      EXPECT_EQ(mine, &objects.local());
      done = true;
      nopal::wait_for(others);
    });
  }
}

TEST(combinable, takes_types_that_are_made_of_anything) {
  nopal::combinable<greedy> plain;
  nopal::combinable<greedy> from_seven{greedy{7, 0}};
  on_three_threads([&](int i) {
    plain.local().value += i;
    from_seven.local().value += i;
  });
  const auto add = [](const greedy& a, const greedy& b) { return greedy{a.value + b.value, 0}; };
  EXPECT_EQ(plain.combine(add).value, 6);
  EXPECT_EQ(from_seven.combine(add).value, 27);
  EXPECT_EQ(from_seven.combine([](greedy&& a, greedy&& b) { return greedy{a.value + b.value, 0}; }).value, 27);
  nopal::combinable<std::any> anything;
  on_three_threads([&](int i) { anything.local() = i; });
  EXPECT_EQ(std::any_cast<int>(anything.combine(
                [](const std::any& a, const std::any& b) { return std::any{std::any_cast<int>(a) + std::any_cast<int>(b)}; })),
            6);
  nopal::combinable<unassignable> fixed{[] { return unassignable{4}; }};
  on_three_threads([&](int) { fixed.local(); });
  EXPECT_EQ(fixed.combine([](unassignable a, unassignable b) { return unassignable{a.value + b.value}; }).value, 12);
}

// A function without captures can be converted to a pointer, and that to a bool; a std::any or a std::function holds what can be called.
TEST(combinable, calls_a_function_also_where_it_could_be_kept) {
  nopal::combinable<bool> found([] { return false; });
  EXPECT_FALSE(found.local());
  nopal::combinable<bool> counted([] { return 0; });
  EXPECT_FALSE(counted.local());
  const auto seven = [] { return std::any{7}; };
  nopal::combinable<std::any> anything{seven};
  EXPECT_EQ(std::any_cast<int>(anything.local()), 7);
  nopal::combinable<greedy> hungry{[] { return greedy{8, 0}; }};
  EXPECT_EQ(hungry.local().value, 8);
  int called = 0;
  nopal::combinable<std::function<void()>> made{[&] { return std::function<void()>{[&] { ++called; }}; }};
  made.local()();
  EXPECT_EQ(called, 1);
}

TEST(combinable, begins_as_a_function_that_it_holds) {
  nopal::combinable<std::function<int()>> kept{[] { return 1; }};
  EXPECT_EQ(kept.local()(), 1);
  nopal::combinable<int (*)()> pointer{[] { return 2; }};
  EXPECT_EQ(pointer.local()(), 2);
  const std::function<int()> three{[] { return 3; }};
  nopal::combinable<std::function<int()>> copied{three};
  EXPECT_EQ(copied.local()(), 3);
  nopal::combinable deduced{[] { return 4; }};
  EXPECT_EQ(deduced.local()(), 4);
  struct returns_itself {
    int value = 0;
    returns_itself operator()() const { return {value + 1}; }
  };
  nopal::combinable<returns_itself> itself{returns_itself{5}};
  EXPECT_EQ(itself.local().value, 5);
}

TEST(combinable, merges_tables_of_all_workers) {
  test::everywhere([] {
    nopal::combinable<std::map<int, int>> tables;
    nopal::parallel_for(0, 10'000, [&](int i) { ++tables.local()[i % 100]; });
    const auto all = tables.combine([](auto a, const auto& b) {
      for (const auto& [key, count] : b) a[key] += count;
      return a;
    });
    ASSERT_EQ(all.size(), 100U);
    for (const auto& [key, count] : all) EXPECT_EQ(count, 100) << key;
  });
}

}  // namespace
