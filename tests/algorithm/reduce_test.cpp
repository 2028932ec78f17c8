// reduce and transform_reduce: their results, and the same bits on any schedule.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../on_pools.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/pool.hpp"

namespace {

// Doubles with a sum that depends on the order of the additions.
std::vector<double> uneven(std::size_t n) {
  std::vector<double> v(n);
  std::uint64_t x = 88172645463325252u;
  for (auto& d : v) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    d = std::ldexp(static_cast<double>(x % 1000003) - 500000, static_cast<int>(x >> 32) % 40 - 20);
  }
  return v;
}

std::uint64_t bits(double d) { return std::bit_cast<std::uint64_t>(d); }

// The sums of several sizes, as bits: by an operation that the library knows, by one that it does not, and with a projection.
std::vector<std::uint64_t> sums(std::vector<double> const& v) {
  std::vector<std::uint64_t> result;
  for (std::size_t const n : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{1000}, v.size()}) {
    std::span const s{v.data(), n};
    result.push_back(bits(nopal::reduce(s, 0.0)));
    result.push_back(bits(nopal::reduce(s, 0.0, [](double a, double b) { return a + b; })));
    result.push_back(bits(nopal::reduce(s, 1.0, std::plus<>{}, [](double a) { return a * 1.1; })));
    result.push_back(bits(nopal::transform_reduce(s, 0.0, std::plus<>{}, [](double a) { return a * a; })));
    result.push_back(bits(nopal::transform_reduce(s, s, 0.5)));
    result.push_back(bits(nopal::reduce(s, 0.0, std::plus<>{}, nopal::grain{7})));
  }
  return result;
}

TEST(reduce, has_the_same_bits_on_any_number_of_workers) {
  auto const v = uneven(30'000);
  auto const expected = sums(v);  // off a pool
  EXPECT_NE(bits(nopal::reduce(v, 0.0)), bits(std::accumulate(v.begin(), v.end(), 0.0)))
      << "the order does not matter, and nothing is tested";
  for (unsigned const workers : {1u, 2u, 3u, 8u, 64u}) {
    nopal::pool pool{{.workers = workers}};
    for (int round = 0; round < 5; ++round) EXPECT_EQ(pool.run([&] { return sums(v); }), expected) << workers;
  }
}

TEST(reduce, has_the_same_bits_whatever_is_stolen) {
  auto const v = uneven(3000);
  auto const expected = sums(v);
  for (auto const s : {nopal::schedule::steal_always, nopal::schedule::steal_never}) {
    nopal::pool pool{{.workers = 3, .schedule = s}};
    EXPECT_EQ(pool.run([&] { return sums(v); }), expected);
  }
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    nopal::pool pool{{.workers = 4, .seed = seed, .schedule = nopal::schedule::steal_at_random}};
    auto const small = std::span{v.data(), 500};
    double const sum = pool.run([&] { return nopal::reduce(small, 0.0, [](double a, double b) { return a + b; }); });
    EXPECT_EQ(bits(sum), bits(nopal::reduce(small, 0.0, [](double a, double b) { return a + b; }))) << seed;
  }
}

TEST(reduce, is_the_sum) {
  test::on_some_pools([](nopal::pool& pool) {
    pool.run([] {
      for (std::size_t const n : {0u, 1u, 2u, 15u, 16u, 17u, 31u, 32u, 33u, 64u, 1000u, 1023u, 1024u, 1025u, 100'000u}) {
        std::vector<int> v(n);
        std::iota(v.begin(), v.end(), 1);
        long const expected = static_cast<long>(n) * static_cast<long>(n + 1) / 2;
        EXPECT_EQ(nopal::reduce(v, 5l), expected + 5);
        EXPECT_EQ(nopal::reduce(v.begin(), v.end(), 5l), expected + 5);
        EXPECT_EQ(nopal::reduce(v, 0l, std::plus<>{}, [](int x) { return 2 * x; }), 2 * expected);
        EXPECT_EQ(nopal::transform_reduce(v.begin(), v.end(), 0l, std::plus<>{}, [](int) { return 1; }), static_cast<long>(n));
        EXPECT_EQ(nopal::transform_reduce(v, v, 0l, std::plus<>{}, [](int a, int b) { return b - a; }), 0);
        EXPECT_EQ(nopal::reduce(v, 0u, std::bit_xor<>{}), std::accumulate(v.begin(), v.end(), 0u, std::bit_xor<>{}));
        EXPECT_EQ(nopal::reduce(v, 0, [](int a, int b) { return std::max(a, b); }), static_cast<int>(n));
      }
    });
  });
}

TEST(reduce, has_defaults) {
  std::vector<int> const v{1, 2, 3, 4};
  EXPECT_EQ(nopal::reduce(v), 10);
  EXPECT_EQ(nopal::reduce(v.begin(), v.end()), 10);
  EXPECT_EQ(nopal::reduce(v, 0, std::plus<>{}, nopal::grain{1}), 10);
  EXPECT_EQ(nopal::transform_reduce(v, v, 0), 30);
  EXPECT_EQ(nopal::transform_reduce(v.begin(), v.end(), v.begin(), 1), 31);
  std::vector<int> const shorter{1, 1};
  EXPECT_EQ(nopal::transform_reduce(v, shorter, 0), 3);
  EXPECT_EQ(nopal::transform_reduce(shorter, v, 0), 3);
}

// std::reduce may change the order of operands; ours may not.
TEST(reduce, need_not_be_commutative) {
  test::on_some_pools([](nopal::pool& pool) {
    std::deque<std::string> words;
    std::string expected = "words:";
    for (int k = 0; k < 3000; ++k) expected += words.emplace_back(std::to_string(k));
    EXPECT_EQ(pool.run([&] { return nopal::reduce(words, std::string{"words:"}); }), expected);
    auto const length = [](std::string const& w) { return w.size(); };
    EXPECT_EQ(pool.run([&] { return nopal::reduce(words, std::size_t{6}, std::plus<>{}, length); }), expected.size());
    EXPECT_EQ(pool.run([&] { return nopal::reduce(words, std::size_t{6}, std::plus<>{}, &std::string::size); }), expected.size());
  });
}

struct move_only {
  std::unique_ptr<long> value = std::make_unique<long>(0);
  move_only() = default;
  explicit move_only(long v) : value{std::make_unique<long>(v)} {}
};

TEST(reduce, takes_results_that_only_move) {
  test::on_some_pools([](nopal::pool& pool) {
    std::vector<long> v(5000);
    std::iota(v.begin(), v.end(), 0);
    struct add {
      move_only operator()(move_only a, move_only b) const { return move_only{*a.value + *b.value}; }
      move_only operator()(move_only a, long b) const { return move_only{*a.value + b}; }
    };
    EXPECT_EQ(*pool.run([&] { return nopal::reduce(v, move_only{3}, add{}); }).value, 4999l * 2500 + 3);
  });
}

// Calls op once less than there are operands, and the projection once for each element.
// The value that an element is converted to for its function is destroyed when that returns, unless it is called by name.
TEST(reduce, calls_functions_that_refer_to_what_elements_were_converted_to) {
  auto const itself = [](long const& x) -> long const& { return x; };
  auto const greater = [](long const& a, long const& b) -> long const& { return a < b ? b : a; };
  auto const same_text = [](std::string const& s) -> std::string const& { return s; };
  test::on_some_pools([&](nopal::pool& pool) {
    for (int const n : {1, 3, 100, 5003}) {
      std::vector<int> v(static_cast<std::size_t>(n));
      std::iota(v.begin(), v.end(), 0);
      std::vector<char const*> const texts(v.size(), "a text that is too long to lie in a string itself");
      long const sum = std::accumulate(v.begin(), v.end(), 0L);
      pool.run([&] {
        EXPECT_EQ(nopal::reduce(v, 0L, std::plus<>{}, itself), sum);
        EXPECT_EQ(nopal::reduce(v, 0L, greater), n - 1);
        EXPECT_EQ(nopal::transform_reduce(v, 0L, std::plus<>{}, itself), sum);
        EXPECT_EQ(nopal::transform_reduce(v, v, 0L, std::plus<>{}, greater), sum);
        EXPECT_EQ(nopal::reduce(texts, std::string{}, std::plus<>{}, same_text).size(), texts.size() * std::string{texts[0]}.size());
      });
    }
  });
}

TEST(reduce, calls_as_often_as_it_must) {
  test::on_some_pools([](nopal::pool& pool) {
    std::vector<int> v(10'000, 1);
    std::atomic<int> ops{0}, projections{0};
    pool.run([&] {
      EXPECT_EQ(nopal::reduce(v, 1, [&](int a, int b) { return ++ops, a + b; }, [&](int x) { return ++projections, x; }), 10'001);
    });
    EXPECT_EQ(ops, 10'000);
    EXPECT_EQ(projections, 10'000);
  });
}

template <class Throws>
void expect_first(int n, Throws throws) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  int first = 0;
  while (first < n && !throws(first)) ++first;
  std::vector<std::atomic<int>> ran(v.size());
  int thrown = n;
  try {
    int const sum = nopal::transform_reduce(v, 0, std::plus<>{}, [&](int x) {
      ++ran[static_cast<std::size_t>(x)];
      return throws(x) ? throw x : x;
    });
    EXPECT_EQ(sum, n * (n - 1) / 2);
  } catch (int x) {
    thrown = x;
  }
  EXPECT_EQ(thrown, first);
  for (int x = 0; x < n; ++x) {
    if (x <= first) {
      ASSERT_EQ(ran[static_cast<std::size_t>(x)], 1) << x;
    } else {
      ASSERT_LE(ran[static_cast<std::size_t>(x)], 1) << x;
    }
  }
}

void expect_first_at_every_place() {
  for (int const n : {1, 2, 5, 20}) {
    for (int at = 0; at <= n; ++at) expect_first(n, [=](int x) { return x >= at; });
  }
  expect_first(5000, [](int x) { return x % 1000 == 999; });
}

TEST(reduce, throws_what_serial_execution_would_have_thrown_first) {
  expect_first_at_every_place();
  test::on_some_pools([](nopal::pool& pool) { pool.run(expect_first_at_every_place); });
  nopal::pool always{{.workers = 3, .schedule = nopal::schedule::steal_always}};
  always.run(expect_first_at_every_place);
}

TEST(reduce, throws_what_the_operation_throws) {
  test::on_some_pools([](nopal::pool& pool) {
    std::vector<int> const v(5000, 1);
    pool.run([&] {
      EXPECT_THROW(nopal::reduce(v, 0, [](int a, int b) { return a + b > 1000 ? throw std::overflow_error{"too many"} : a + b; }),
                   std::overflow_error);
    });
  });
}

TEST(reduce, runs_long_off_a_pool) {
  std::vector<int> const v(3000, 1);
  auto const slow = [](int x) {
    volatile std::uint64_t y = 1;
    for (int k = 0; k < 3000; ++k) y = y * 3 + 1;
    return x;
  };
  for (int round = 0; round < 3; ++round) EXPECT_EQ(nopal::reduce(v, 0, std::plus<>{}, slow), 3000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back([&] { EXPECT_EQ(nopal::reduce(v, 0, std::plus<>{}, slow), 3000); });
  for (auto& t : threads) t.join();
}

// Strings, vectors and pointers could be second ranges too: the call with the elements, and with two of them, says that they are not.
TEST(transform_reduce, to_what_is_a_range_or_an_iterator_itself) {
  std::vector<int> const v{3, 1, 4, 1, 5, 9, 2, 6};
  auto const of_one = [](int x) { return std::vector<int>{x}; };
  auto const join = [](std::vector<int> a, std::vector<int> const& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  EXPECT_EQ(nopal::transform_reduce(v, std::vector<int>{}, join, of_one), v);
  EXPECT_EQ(nopal::transform_reduce(v, v, std::vector<int>{}, join, [&](int x, int) { return of_one(x); }), v);
  EXPECT_EQ(nopal::transform_reduce(v, std::string{}, std::plus<>{}, [](int x) { return std::to_string(x); }), "31415926");
  auto const larger = [](int const* a, int const* b) { return a == nullptr || (b != nullptr && *b > *a) ? b : a; };
  int const* const none = nullptr;
  EXPECT_EQ(nopal::transform_reduce(v.begin(), v.end(), none, larger, [](int const& x) { return &x; }), &v[5]);
  EXPECT_EQ(nopal::transform_reduce(v, v, 0), std::inner_product(v.begin(), v.end(), v.begin(), 0));
}

}  // namespace
