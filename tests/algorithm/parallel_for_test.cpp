// parallel_for: every iteration runs once, for any limits, body and caller.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../on_pools.hpp"
#include "../this_thread.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/stay.hpp"
#include "nopal/task.hpp"

namespace {

// The number of runs of each iteration of [0, n).
class tally {
 public:
  explicit tally(std::size_t n) : counts_(n) {}
  void count(std::size_t i) { counts_.at(i).fetch_add(1, std::memory_order_relaxed); }
  bool each_once() const {
    return std::all_of(counts_.begin(), counts_.end(), [](auto const& c) { return c.load(std::memory_order_relaxed) == 1; });
  }

 private:
  std::vector<std::atomic<int>> counts_;
};

std::uint64_t spin(std::uint64_t n) {
  volatile std::uint64_t x = n;
  for (std::uint64_t k = 0; k < n; ++k) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

void expect_each_once(std::size_t n, std::uint64_t cost) {
  tally t{n};
  nopal::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
    spin(cost);
    t.count(i);
  });
  EXPECT_TRUE(t.each_once()) << n << " iterations";
}

TEST(parallel_for, runs_each_iteration_once) {
  test::on_some_pools([](nopal::pool& pool) {
    pool.run([] {
      for (std::size_t const n : {0u, 1u, 2u, 3u, 63u, 64u, 65u, 1000u, 100'000u}) expect_each_once(n, 0);
      for (std::size_t const n : {1u, 2u, 3u, 64u, 1000u}) expect_each_once(n, 2000);
      expect_each_once(7, 300'000);
    });
  });
}

TEST(parallel_for, runs_off_a_pool) {
  for (std::size_t const n : {0u, 1u, 2u, 64u, 1000u, 1'000'000u}) expect_each_once(n, 0);
  expect_each_once(2000, 2000);
  expect_each_once(3, 3'000'000);
  for (int k = 0; k < 1000; ++k) expect_each_once(100, 3);
}

TEST(parallel_for, is_shared_off_a_pool) {
  if (nopal::default_pool().workers() == 1) GTEST_SKIP() << "with nobody to share with";
  std::atomic<int> here{0};
  std::atomic<bool> shared{false};
  auto const me = std::this_thread::get_id();
  nopal::parallel_for(
      0, 100'000'000,
      [&](int) {
        if (shared.load(std::memory_order_relaxed)) return;
        spin(100);
        if (std::this_thread::get_id() != me) shared = true;
        here.fetch_add(1, std::memory_order_relaxed);
      },
      nopal::grain{1000});
  EXPECT_TRUE(shared.load());
}

TEST(parallel_for, runs_for_every_caller_at_once) {
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([] {
      for (int round = 0; round < 20; ++round) expect_each_once(5000, 20);
    });
  }
  for (auto& t : threads) t.join();
}

template <class I>
void expect_limits(I first, I last) {
  std::atomic<std::uint64_t> count{0}, sum{0};
  nopal::parallel_for(first, last, [&](auto i) {
    static_assert(std::is_same_v<decltype(i), I>);
    EXPECT_TRUE(first <= i && i < last);
    count.fetch_add(1, std::memory_order_relaxed);
    sum.fetch_add(static_cast<std::uint64_t>(i), std::memory_order_relaxed);
  });
  std::uint64_t expected_count = 0, expected_sum = 0;
  for (I i = first; i < last; ++i) {
    ++expected_count;
    expected_sum += static_cast<std::uint64_t>(i);
  }
  EXPECT_EQ(count, expected_count);
  EXPECT_EQ(sum, expected_sum);
}

template <class I>
void expect_limits_of_type() {
  using limit = std::numeric_limits<I>;
  I const small = 100;
  expect_limits<I>(0, small);
  expect_limits<I>(small, 0);  // reversed
  expect_limits<I>(small, small);
  expect_limits<I>(limit::min(), static_cast<I>(limit::min() + small));
  expect_limits<I>(static_cast<I>(limit::max() - small), limit::max());
  expect_limits<I>(limit::max(), limit::min());
  if constexpr (limit::is_signed) expect_limits<I>(static_cast<I>(-small), small);
}

TEST(parallel_for, counts_in_every_integer_type) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    expect_limits_of_type<char>();
    expect_limits_of_type<signed char>();
    expect_limits_of_type<unsigned char>();
    expect_limits_of_type<short>();
    expect_limits_of_type<unsigned short>();
    expect_limits_of_type<int>();
    expect_limits_of_type<unsigned>();
    expect_limits_of_type<long>();
    expect_limits_of_type<unsigned long>();
    expect_limits_of_type<long long>();
    expect_limits_of_type<unsigned long long>();
    expect_limits_of_type<wchar_t>();
    expect_limits_of_type<char16_t>();
    expect_limits<signed char>(-128, 127);
    expect_limits<unsigned short>(0, 65535);
    expect_limits<short>(-32768, 32767);
  });
}

TEST(parallel_for, takes_the_whole_range_of_a_type) {
  nopal::pool pool{{.workers = 2}};
  struct enough {};
  auto const first_of = [&](auto first, auto last, auto stop) {
    pool.run([&] {
      EXPECT_THROW(nopal::parallel_for(first, last,
                                       [&](auto i) {
                                         EXPECT_TRUE(first <= i && i < last);
                                         if (i >= stop) throw enough{};
                                       }),
                   enough);
    });
  };
  first_of(std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), std::numeric_limits<int>::min() + 1000);
  first_of(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
           std::numeric_limits<std::int64_t>::min() + 1000);
  first_of(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1000});
}

TEST(parallel_for, counts_in_the_common_type) {
  std::size_t const n = 1000;
  std::atomic<std::size_t> sum{0};
  nopal::parallel_for(0, n, [&](auto i) {
    static_assert(std::is_same_v<decltype(i), std::size_t>);
    sum += i;
  });
  EXPECT_EQ(sum, n * (n - 1) / 2);
  sum = 0;
  nopal::parallel_for(n - n, 10, [&](std::size_t i) { sum += i; });
  EXPECT_EQ(sum, 45u);
  nopal::parallel_for(n, -1, [&](std::size_t) { ADD_FAILURE() << "is above -1"; });
  std::atomic<long> signed_sum{0};
  nopal::parallel_for(-3, 4l, [&](auto i) {
    static_assert(std::is_same_v<decltype(i), long>);
    signed_sum += i;
  });
  EXPECT_EQ(signed_sum, 0);
}

TEST(parallel_for, says_that_an_unsigned_index_cannot_be_negative) {
  try {
    nopal::parallel_for(-3, 2ul, [](auto) { ADD_FAILURE() << "has run"; });
    ADD_FAILURE() << "did not throw";
  } catch (std::invalid_argument const& e) {
    EXPECT_STREQ(e.what(),
                 "nopal::parallel_for: first = -3 is below 0, the least value of the unsigned 64-bit type in which the loop "
                 "counts, since last has that type; convert last to a signed type");
  }
}

// ---- Bodies.

std::atomic<long> counted{0};
void count_up(int i) { counted += i; }

TEST(parallel_for, calls_functions) {
  counted = 0;
  nopal::parallel_for(0, 1000, count_up);
  nopal::parallel_for(0, 1000, &count_up);
  void (*const pointer)(int) = count_up;
  nopal::parallel_for(0, 1000, pointer);
  EXPECT_EQ(counted, 3 * 999 * 500);
}

TEST(parallel_for, calls_the_body_that_it_was_given) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    std::atomic<int> n{0};
    auto const owned = std::make_unique<int>(1);
    auto move_only = [&n, mine = std::make_unique<int>(1)](int) { n += *mine; };
    nopal::parallel_for(0, 1000, move_only);
    nopal::parallel_for(0, 1000, [&n, mine = std::make_unique<int>(1)](int) mutable { n += *mine; });
    auto const fixed = [&n](int) { ++n; };
    nopal::parallel_for(0, 1000, fixed);
    std::array<int, 1000> large{};
    large[500] = 1;
    nopal::parallel_for(0, 1000, [&n, large](int i) { n += large[static_cast<std::size_t>(i)]; });
    struct immovable {
      std::atomic<int>& n;
      explicit immovable(std::atomic<int>& to) : n{to} {}
      immovable(immovable const&) = delete;
      int operator()(int) & { return ++n; }
      int operator()(int) && = delete;
    } body{n};
    nopal::parallel_for(0, 1000, body);
    EXPECT_EQ(n, 4001);
  });
}

TEST(parallel_for, calls_a_constant_body_as_a_constant) {
  struct overloaded {
    std::atomic<int>* as_constant;
    std::atomic<int>* otherwise;
    void operator()(int) const { ++*as_constant; }
    void operator()(int) { ++*otherwise; }
    void operator()(int, int) const { ++*as_constant; }
    void operator()(int, int) { ++*otherwise; }
  };
  nopal::pool pool{{.workers = 2}};
  std::atomic<int> as_constant{0}, otherwise{0};
  overloaded body{&as_constant, &otherwise};
  auto const& constant = body;
  auto const loops = [&](auto&& f) {
    nopal::affinity keep;
    nopal::parallel_for(0, 1000, f);
    nopal::parallel_for(0, 1000, f, keep);
    nopal::parallel_for(0, 30, 0, 40, f);
    nopal::parallel_for_blocks(0, 1000, f, nopal::grain{100});
  };
  loops(constant);
  pool.run([&] { loops(constant); });
  EXPECT_EQ(as_constant, 2 * (1000 + 1000 + 1200 + 10));
  EXPECT_EQ(otherwise, 0);
  pool.run([&] { loops(body); });
  EXPECT_EQ(as_constant, 2 * (1000 + 1000 + 1200 + 10));
  EXPECT_EQ(otherwise, 1000 + 1000 + 1200 + 10);
}

// ---- Callers.

TEST(parallel_for, nests) {
  test::on_some_pools([](nopal::pool& pool) {
    pool.run([] {
      tally t{50 * 50 * 50};
      nopal::parallel_for(0u, 50u, [&](unsigned a) {
        nopal::parallel_for(0u, 50u,
                            [&](unsigned b) { nopal::parallel_for(0u, 50u, [&](unsigned c) { t.count((a * 50 + b) * 50 + c); }); });
      });
      EXPECT_TRUE(t.each_once());
    });
  });
}

nopal::task<void> loop_in_a_task(tally& t, std::size_t from) {
  nopal::parallel_for(from, from + 1000, [&](std::size_t i) {
    spin(100);
    t.count(i);
  });
  co_return;
}
nopal::task<void> loops_in_tasks(tally& t) {
  for (std::size_t k = 0; k < 10; ++k) co_await nopal::fork(loop_in_a_task, std::ref(t), k * 1000);
  co_await nopal::join;
}

TEST(parallel_for, runs_in_tasks) {
  test::on_some_pools([](nopal::pool& pool) {
    tally t{10'000};
    pool.run(loops_in_tasks, std::ref(t));
    EXPECT_TRUE(t.each_once());
  });
}

TEST(parallel_for, runs_in_fibers_and_waits_for_them) {
  test::on_some_pools([](nopal::pool& pool) {
    tally t{10'000};
    nopal::counter left;
    for (std::size_t k = 0; k < 10; ++k) {
      pool.spawn(left, [&t, k] {
        nopal::parallel_for(k * 1000, (k + 1) * 1000, [&](std::size_t i) {
          if (i % 100 == 0) nopal::yield();
          t.count(i);
        });
      });
    }
    nopal::wait_for(left);
    EXPECT_TRUE(t.each_once());
    pool.run([] {  // bodies that park
      nopal::counter inner;
      std::atomic<int> woken{0};
      nopal::parallel_for(0, 100, [&](int) {
        nopal::counter c;
        nopal::spawn(c, [] { nopal::yield(); });
        nopal::wait_for(c);
        ++woken;
      });
      EXPECT_EQ(woken, 100);
    });
  });
}

TEST(parallel_for, runs_in_serial_callbacks) {
  nopal::pool pool{{.workers = 3}};
  pool.run([] {
    std::array<int, 20> numbers{};
    for (int k = 0; k < 20; ++k) numbers[static_cast<std::size_t>(k)] = (k * 7) % 20;
    std::qsort(numbers.data(), numbers.size(), sizeof(int), [](void const* a, void const* b) {
      std::atomic<int> n{0};
      nopal::parallel_for(0, 2000, [&](int) { ++n; });
      EXPECT_EQ(n, 2000);
      return *static_cast<int const*>(a) - *static_cast<int const*>(b);
    });
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  });
}

TEST(parallel_for, runs_where_stacks_stay) {
  auto const loops = [] {
    nopal::stay const here;  // which may move a caller of run to a worker's own thread
    auto const before = test::this_thread();
    for (int k = 0; k < 20; ++k) expect_each_once(2000, 200);
    EXPECT_EQ(test::this_thread(), before);
  };
  for (unsigned const workers : {1u, 2u, 4u}) {
    nopal::pool anywhere{{.workers = workers}};
    anywhere.run(loops);
    nopal::pool home{{.workers = workers, .resume = nopal::resume::home}};
    home.run(loops);
  }
}

TEST(parallel_for, runs_in_a_pool_that_does_not_steal) {
  nopal::pool pool{{.workers = 2, .steal = false}};
  pool.run([] {
    auto const me = nopal::this_worker::index();
    nopal::parallel_for(0, 100'000, [&](int) { EXPECT_EQ(nopal::this_worker::index(), me); });
    expect_each_once(1000, 1000);
  });
}

// ---- Two dimensions.

TEST(parallel_for, has_two_dimensions) {
  test::on_some_pools([](nopal::pool& pool) {
    pool.run([] {
      for (auto const& [rows, columns] : {std::pair{0, 5}, {5, 0}, {1, 1}, {1, 1000}, {1000, 1}, {37, 41}, {500, 300}}) {
        tally t{static_cast<std::size_t>(rows * columns)};
        nopal::parallel_for(-10, rows - 10, 5, columns + 5, [&](int r, int c) {
          ASSERT_TRUE(r >= -10 && r < rows - 10 && c >= 5 && c < columns + 5);
          t.count(static_cast<std::size_t>((r + 10) * columns + c - 5));
        });
        EXPECT_TRUE(t.each_once()) << rows << " x " << columns;
      }
    });
  });
}

TEST(parallel_for, has_two_dimensions_of_different_types) {
  std::atomic<int> n{0};
  nopal::parallel_for(std::size_t{0}, std::size_t{3}, short{-2}, short{2}, [&](std::size_t r, short c) {
    EXPECT_LT(r, 3u);
    EXPECT_TRUE(c >= -2 && c < 2);
    ++n;
  });
  EXPECT_EQ(n, 12);
  nopal::parallel_for(0, 3, 4, 2, [](int, int) { ADD_FAILURE() << "has no column"; });
}

TEST(parallel_for, has_more_places_than_can_be_counted) {
  struct enough {};
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THROW(nopal::parallel_for(std::uint64_t{0}, most, std::uint64_t{0}, most,
                                   [](std::uint64_t, std::uint64_t c) {
                                     if (c == 1000) throw enough{};
                                   }),
               enough);
}

}  // namespace
