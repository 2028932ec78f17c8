// Reductions and scans, and where algorithms are called: in each other, in tasks and fibers, where a stop is requested.

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"
#include "places.hpp"

namespace {

using namespace test;

const auto concatenated = [](const std::string& a, const std::string& b) { return a + b; };
std::vector<std::string> digits(std::size_t n) {
  std::vector<std::string> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<char>('0' + i % 10);
  return all;
}

TEST(sums, of_numbers) {
  in_all_sizes([](auto& policy, std::size_t n) {
    const std::vector<int> v = vector_of<int>(n);
    EXPECT_EQ(std::reduce(policy, v.begin(), v.end(), 5L), std::accumulate(v.begin(), v.end(), 5L));
    const auto product = [](int a, int b) { return long{a} * b; };
    EXPECT_EQ(std::transform_reduce(policy, v.begin(), v.end(), v.begin(), 0L, std::plus<>{}, product),
              std::inner_product(v.begin(), v.end(), v.begin(), 0L));
    const auto greatest = [](int a, int b) { return std::max(a, b); };
    EXPECT_EQ(std::reduce(policy, v.data(), v.data() + n, -1, greatest), n > 0 ? *std::max_element(v.begin(), v.end()) : -1);
    const std::vector<double> halves = vector_of<double>(n);
    EXPECT_EQ(std::transform_reduce(policy, halves.begin(), halves.end(), 1.0, std::plus<>{}, [](double x) { return x / 2; }),
              1.0 + std::accumulate(halves.begin(), halves.end(), 0.0) / 2);
  });
}

// What is made of an element need not be a number that the sum can be made of: two of them joined are one.
struct part {
  int value;
};
struct whole {
  int value = 0;
};
struct joins {
  whole operator()(whole a, whole b) const { return {a.value + b.value}; }
  whole operator()(part a, whole b) const { return {a.value + b.value}; }
  whole operator()(whole a, part b) const { return {a.value + b.value}; }
  whole operator()(part a, part b) const { return {a.value + b.value}; }
};
TEST(sums, of_parts_that_are_no_sums) {
  in_all_sizes([](auto& policy, std::size_t n) {
    const std::vector<int> v = vector_of<int>(n);
    const whole sum = std::transform_reduce(policy, v.begin(), v.end(), whole{7}, joins{}, [](int x) { return part{x}; });
    EXPECT_EQ(sum.value, std::accumulate(v.begin(), v.end(), 7));
  });
}

// A sum could be made of an element, but would not be the sum of that element.
struct collect {
  using all = std::vector<int>;
  all operator()(all a, const all& b) const {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  all operator()(all a, int b) const {
    a.push_back(b);
    return a;
  }
  all operator()(int a, all b) const {
    b.insert(b.begin(), a);
    return b;
  }
  all operator()(int a, int b) const { return {a, b}; }
};
struct add_squares_of_ints {
  double operator()(double a, double b) const { return a + b; }
  double operator()(double a, int b) const { return a + 1.0 * b * b; }
  double operator()(int a, double b) const { return 1.0 * a * a + b; }
  double operator()(int a, int b) const { return 1.0 * a * a + 1.0 * b * b; }
};
TEST(sums, of_parts_that_could_be_taken_for_sums) {
  by_both_policies([](auto& policy) {
    const std::vector<int> few{2, 3, 4};
    EXPECT_EQ(std::transform_reduce(policy, few.begin(), few.end(), std::vector<int>{}, collect{}, std::identity{}), few);
  });
  in_all_sizes(
      [](auto& policy, std::size_t n) {
        const std::vector<int> v = vector_of<int>(n);
        std::vector<int> collected = std::reduce(policy, v.begin(), v.end(), std::vector<int>{}, collect{});
        std::sort(collected.begin(), collected.end());  // the library may take elements in another order
        EXPECT_EQ(collected, sorted_of<int>(n));
        double squares = 0;
        for (const int x : v) squares += 1.0 * x * x;
        EXPECT_EQ(std::transform_reduce(policy, v.begin(), v.end(), 0.0, add_squares_of_ints{}, [](int x) { return x; }), squares);
      },
      some);
}

TEST(sums, of_ints_by_an_operation_of_any_numbers_do_not_overflow_in_a_long) {
  in_all_sizes([](auto& policy, std::size_t n) {
    const std::vector<int> v(n, 2'000'000'000);
    EXPECT_EQ(std::reduce(policy, v.begin(), v.end(), 0L, [](auto a, auto b) { return a + b; }), static_cast<long>(n) * 2'000'000'000);
  });
}

TEST(sums, of_real_numbers_have_the_same_bits_each_time) {
  for (const std::size_t n : sizes) {
    std::vector<double> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = 1.0 / static_cast<double>(1 + mix(i) % 1'000'003);
    std::set<std::uint64_t> sums;
    std::set<std::uint64_t> scans;
    const auto note = [&] {
      sums.insert(std::bit_cast<std::uint64_t>(std::reduce(std::execution::par, v.begin(), v.end())));
      std::vector<double> out(n + 1);
      std::inclusive_scan(std::execution::par, v.begin(), v.end(), out.begin());
      std::uint64_t all = 0;
      for (const double x : out) all = mix(all ^ std::bit_cast<std::uint64_t>(x));
      scans.insert(all);
    };
    note();
    for (const unsigned workers : {1u, 2u, 7u}) {
      nopal::pool pool{{.workers = workers}};
      pool.run(note);
    }
    EXPECT_EQ(sums.size(), 1u) << n;
    EXPECT_EQ(scans.size(), 1u) << n;
  }
}

TEST(sums, before_and_up_to_each_element) {
  in_all_sizes([](auto& policy, std::size_t n) {
    const std::vector<int> v = vector_of<int>(n);
    std::vector<long> out(n);
    std::vector<long> expected(n);
    EXPECT_EQ(std::inclusive_scan(policy, v.begin(), v.end(), out.begin(), std::plus<>{}, 3L), out.end());
    std::inclusive_scan(v.begin(), v.end(), expected.begin(), std::plus<>{}, 3L);
    EXPECT_EQ(out, expected);
    std::exclusive_scan(policy, v.begin(), v.end(), out.begin(), 3L);
    std::exclusive_scan(v.begin(), v.end(), expected.begin(), 3L);
    EXPECT_EQ(out, expected);
    const auto twice = [](int x) { return 2L * x; };
    std::transform_exclusive_scan(policy, v.begin(), v.end(), out.begin(), 4L, std::plus<>{}, twice);
    std::transform_exclusive_scan(v.begin(), v.end(), expected.begin(), 4L, std::plus<>{}, twice);
    EXPECT_EQ(out, expected);
    const std::vector<double> real = vector_of<double>(n);
    std::vector<double> real_out(n);
    std::vector<double> real_expected(n);
    std::inclusive_scan(policy, real.begin(), real.end(), real_out.begin());  // whole numbers: exact in any grouping
    std::inclusive_scan(real.begin(), real.end(), real_expected.begin());
    EXPECT_EQ(real_out, real_expected);
    std::exclusive_scan(policy, real.begin(), real.end(), real_out.begin(), 1.0);
    std::exclusive_scan(real.begin(), real.end(), real_expected.begin(), 1.0);
    EXPECT_EQ(real_out, real_expected);
  });
}

// Strings keep their order in a scan: its operation need not commute.
TEST(sums, of_strings_in_order) {
  by_both_policies([](auto& policy) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{64}, std::size_t{1000}}) {
      const std::vector<std::string> v = digits(n);
      std::vector<std::string> out(n);
      std::vector<std::string> expected(n);
      std::inclusive_scan(policy, v.begin(), v.end(), out.begin(), concatenated);
      std::inclusive_scan(v.begin(), v.end(), expected.begin(), concatenated);
      EXPECT_EQ(out, expected);
      std::exclusive_scan(policy, v.begin(), v.end(), out.begin(), std::string("x"), concatenated);
      std::exclusive_scan(v.begin(), v.end(), expected.begin(), std::string("x"), concatenated);
      EXPECT_EQ(out, expected);
    }
  });
}

int nested_sum() {
  std::vector<int> rows(40);
  std::iota(rows.begin(), rows.end(), 0);
  return std::transform_reduce(std::execution::par, rows.begin(), rows.end(), 0, std::plus<>{}, [](int row) {
    std::vector<int> v = vector_of<int>(2000 + static_cast<std::size_t>(row));
    std::sort(std::execution::par, v.begin(), v.end());
    return std::is_sorted(v.begin(), v.end()) ? std::reduce(std::execution::par, v.begin(), v.end(), 0) % 1000 : -1'000'000;
  });
}
int expected_sum() {
  int sum = 0;
  for (std::size_t row = 0; row < 40; ++row) {
    const std::vector<int> v = vector_of<int>(2000 + row);
    sum += std::accumulate(v.begin(), v.end(), 0) % 1000;
  }
  return sum;
}
nopal::task<int> sum_in_a_task() {
  const int first = nested_sum();
  co_return first + nested_sum();
}

TEST(places, algorithms_may_call_each_other) {
  const int expected = expected_sum();
  EXPECT_EQ(nested_sum(), expected);
  nopal::pool pool{{.workers = 3}};
  EXPECT_EQ(pool.run(nested_sum), expected);
  EXPECT_EQ(pool.run(sum_in_a_task), 2 * expected);
}

TEST(places, fibers_may_call_them) {
  const int expected = expected_sum();
  nopal::pool pool{{.workers = 3}};
  nopal::counter left;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) pool.spawn(left, [&] { right += nested_sum() == expected ? 1 : 0; });
  nopal::wait_for(left);
  EXPECT_EQ(right, 4);
}

// So a std::mutex may be held, and thread-locals keep their values.
TEST(places, a_worker_returns_on_its_thread) {
  if (std::getenv("NOPAL_SCHEDULE") != nullptr) GTEST_SKIP() << "there one worker runs at a time, and joins are not waited for";
  nopal::pool pool{{.workers = 3}};
  nopal::counter left;
  std::atomic<int> moved{0};
  for (int i = 0; i < 8; ++i) {
    pool.spawn(left, [&] {
      std::mutex mutex;
      const std::lock_guard held{mutex};
      const auto before = std::this_thread::get_id();
      static_cast<void>(nested_sum());
      if (std::this_thread::get_id() != before) ++moved;
    });
  }
  nopal::wait_for(left);
  EXPECT_EQ(moved, 0);
}

TEST(places, a_request_to_stop_leaves_nothing_out) {
  std::stop_source source;
  source.request_stop();
  const auto complete = [&] {
    std::vector<int> v(100'003);
    nopal::with_stop(source.get_token(), [&] {
      std::for_each(std::execution::par, v.begin(), v.end(), [](int& x) { ++x; });
      EXPECT_EQ(std::reduce(std::execution::par, v.begin(), v.end(), 0), 100'003);
      std::inclusive_scan(std::execution::par, v.begin(), v.end(), v.begin());
      EXPECT_EQ(v.back(), 100'003);
      std::sort(std::execution::par, v.begin(), v.end(), std::greater<>{});
      EXPECT_EQ(v.front(), 100'003);
      EXPECT_TRUE(nopal::stop_requested());
    });
  };
  complete();
  nopal::pool pool{{.workers = 3}};
  pool.run(complete);
}

TEST(places_death, an_exception_ends_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::vector<int> v = vector_of<int>(10'000);
  const auto throws = [](int, int) -> bool { throw std::runtime_error("thrown by an element"); };
  EXPECT_DEATH(std::for_each(std::execution::par, v.begin(), v.end(), [](int) { throw std::runtime_error("thrown by an element"); }),
               "thrown by an element");
  EXPECT_DEATH(std::sort(std::execution::par, v.begin(), v.end(), throws), "thrown by an element");
  std::vector<int> out(20'000);
  EXPECT_DEATH(std::merge(std::execution::par, v.begin(), v.end(), v.begin(), v.end(), out.begin(), throws), "thrown by an element");
  EXPECT_DEATH(
      std::reduce(std::execution::par, v.begin(), v.end(), 0, [](int, int) -> int { throw std::runtime_error("thrown by an element"); }),
      "thrown by an element");
}

// What writing once took in cold memory does not hold for ever: then parts of quick elements would stay short.
TEST(scans, forget_what_cold_memory_has_cost) {
  using namespace nopal::core;
  nopal::pool{{.workers = 1}}.run([] {
    const std::vector<int> in(10'000, 1);
    std::vector<int> out(in.size());
    auto make = [&](std::size_t i) { return in[i]; };
    auto more = [&](std::size_t f, std::size_t l, int so_far) { return std::accumulate(&in[f], &in[0] + l, so_far); };
    auto scan = [&](std::size_t f, std::size_t l, int so_far) {
      for (; f != l; ++f) out[f] = so_far += in[f];
      return so_far;
    };
    std::plus<int> join;
    iteration_cost& summing = cost_of<pstl::scanned<decltype(make), decltype(more), int>>;
    iteration_cost& writing = cost_of<pstl::scanned<decltype(scan), int>>;
    summing.learn(ticks_per_microsecond() / 1000);
    writing.learn(ticks_per_microsecond() / 40);
    EXPECT_EQ(pstl::transform_scan(in.size(), make, 0, join, more, scan), 10'000);
    EXPECT_EQ(out.back(), 10'000);
    EXPECT_NEAR(writing.ticks(), summing.ticks(), summing.ticks() * 0.34F);
  });
}

}  // namespace
