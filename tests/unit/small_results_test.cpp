// Results of a few bytes, of every kind and alignment, by every way to start a task: a link error if a compiler calls a library for them.
// Needs the companion simulation.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <nopal/nopal.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

namespace {

struct pair_of_ints {
  int a, b;
  bool operator==(pair_of_ints const&) const = default;
};
struct three_bytes {
  unsigned char a[3];
  bool operator==(three_bytes const&) const = default;
};
struct constant {
  const int a;
  const int b;
  bool operator==(constant const&) const = default;
};
struct aligned_constant {
  const long a;
  bool operator==(aligned_constant const&) const = default;
};
struct alignas(8) aligned_pair {
  int a, b;
  bool operator==(aligned_pair const&) const = default;
};
struct alignas(2) two_bytes {
  unsigned char a, b;
  bool operator==(two_bytes const&) const = default;
};
struct [[gnu::packed]] packed {
  char a;
  short b;
  char c;
  bool operator==(packed const& o) const { return a == o.a && b == o.b && c == o.c; }
};
struct empty {
  bool operator==(empty const&) const = default;
};
enum class letter : char { a = 'a' };
union either {
  int a;
  float b;
  bool operator==(either const& o) const { return a == o.a; }
};

template <class T>
nopal::task<T> give(T value) {
  co_return value;
}

template <class T>
nopal::task<bool> by_every_way(T value) {
  nopal::eventually<T> place;
  std::optional<T> maybe;
  co_await nopal::fork(&place, give<T>, value);
  co_await nopal::fork(&maybe, give<T>, value);
  co_await nopal::fork(give<T>, value);  // dropped
  T const called = co_await nopal::call(give<T>, value);
  co_await nopal::join;
  bool good = place.has_value() && *place == value && maybe == value && called == value;
  if constexpr (std::is_default_constructible_v<T> && std::is_move_assignable_v<T>) {
    T slot{};
    T second{};
    co_await nopal::fork(&slot, give<T>, value);
    co_await nopal::call(&second, give<T>, value);
    co_await nopal::join;
    good = good && slot == value && second == value;
  }
  co_return good;
}

template <class T>
void travels(T value) {
  nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_always}};
  EXPECT_TRUE(pool.run(by_every_way<T>, value));
  EXPECT_TRUE(pool.run(give<T>, value) == value);
  EXPECT_TRUE(pool.submit(give<T>, value).get() == value);
  EXPECT_TRUE(pool.run([&] { return nopal::sync_wait(give<T>, value); }) == value);
}

TEST(small_results, travel) {
  travels(std::complex<float>{1, 2});
  travels(std::complex<double>{1, 2});
  travels(std::optional<int>{3});
  travels(std::optional<char>{'c'});
  travels(std::array<int, 2>{1, 2});
  travels(std::array<char, 8>{1, 2, 3, 4, 5, 6, 7, 8});
  travels(std::array<short, 2>{1, 2});
  travels(pair_of_ints{1, 2});
  travels(three_bytes{{1, 2, 3}});
  travels(constant{1, 2});
  travels(aligned_constant{1});
  travels(aligned_pair{1, 2});
  travels(two_bytes{1, 2});
  travels(packed{'a', 2, 'c'});
  travels(empty{});
  travels(letter::a);
  travels(either{.a = 1});
  travels(std::pair<int, int>{1, 2});
  travels(std::tuple<short, short, int>{short{1}, short{2}, 3});
  travels(std::string_view{"two words"});
  travels(true);
  travels(1.5F);
  travels(static_cast<void*>(nullptr));
  travels(&travels<int>);
}

template <class T>
nopal::task<T> give_or_throw(T value, bool throws) {
  if (throws) throw std::runtime_error{"no value"};
  co_return value;
}

/// A callee whose argument cannot be moved to it, so that it does not start.
struct unmovable {
  unmovable() = default;
  unmovable(unmovable const&) = default;
  [[noreturn]] unmovable(unmovable&&) noexcept(false) { throw std::runtime_error{"not moved"}; }
};
template <class T>
nopal::task<T> never_starts(unmovable, T value) {
  co_return value;
}

template <class T>
nopal::task<bool> only_what_succeeds_is_there(T value) {
  nopal::eventually<T> failed, first, forked, called, not_started;
  bool good = !failed.has_value();
  try {
    co_await nopal::fork(&first, give_or_throw<T>, value, false);
    co_await nopal::fork(&failed, give_or_throw<T>, value, true);
    co_await nopal::call(&called, give_or_throw<T>, value, false);
    co_await nopal::join;
    good = false;
  } catch (std::runtime_error const&) {
  }
  good = good && first.has_value() && *first == value && !failed.has_value();
  try {
    co_await nopal::call(&called, give_or_throw<T>, value, true);
    good = false;
  } catch (std::runtime_error const&) {
  }
  good = good && !called.has_value();
  try {
    unmovable argument;
    co_await nopal::call(&not_started, never_starts<T>, argument, value);
    good = false;
  } catch (std::runtime_error const&) {
  }
  good = good && !not_started.has_value();
  co_await nopal::call(&called, give_or_throw<T>, value, false);
  co_await nopal::fork(&forked, give_or_throw<T>, value, false);
  co_await nopal::join;
  co_return good&& called.has_value() && *called == value&& forked.has_value() && *forked == value;
}

TEST(small_results, are_there_if_the_child_has_not_thrown) {
  for (auto const s : {nopal::schedule::free, nopal::schedule::steal_always}) {
    nopal::pool pool{{.workers = 2, .schedule = s}};
    EXPECT_TRUE(pool.run(only_what_succeeds_is_there<int>, 7));
    EXPECT_TRUE(pool.run(only_what_succeeds_is_there<void*>, &pool));
    EXPECT_TRUE(pool.run(only_what_succeeds_is_there<letter>, letter::a));
    EXPECT_TRUE(pool.run(only_what_succeeds_is_there<aligned_pair>, aligned_pair{1, 2}));
    EXPECT_TRUE(pool.run(only_what_succeeds_is_there<std::string_view>, std::string_view{"two words"}));
  }
}

// Dropped results of two children must not be written to one place that is not atomic: ThreadSanitizer checks.
nopal::task<> drops(int depth) {
  if (depth == 0) co_return;
  co_await nopal::fork(give<pair_of_ints>, pair_of_ints{depth, depth});
  co_await nopal::fork(drops, depth - 1);
  co_await nopal::fork(give<long>, long{depth});
  co_await nopal::call(drops, depth - 1);
  co_await nopal::join;
}
TEST(small_results, may_be_dropped) {
  nopal::pool pool{{.workers = 4}};
  pool.run(drops, 10);
}

}  // namespace
