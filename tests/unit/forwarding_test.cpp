// An argument that is passed to a child by value arrives whole, at any size and layout: Clang copies it by words.

#include "nopal/core/task/pack.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "../on_pools.hpp"
#include "nopal/native.hpp"
#include "nopal/task.hpp"

namespace {

template <class Word, std::size_t N>
struct words {
  std::array<Word, N> all;
  friend bool operator==(words const&, words const&) = default;
};
struct mixed {
  double first;
  int second;
  char third;
  // four bytes of nothing
  long fourth;
  float fifth;
  friend bool operator==(mixed const&, mixed const&) = default;
};
struct without_default {
  explicit without_default(long n) : a{n}, b{n + 1}, c{n + 2} {}
  long a, b, c;
  friend bool operator==(without_default const&, without_default const&) = default;
};
struct alignas(16) aligned {
  long a, b, c, d;
  friend bool operator==(aligned const&, aligned const&) = default;
};

/// The n-th value of T. All its members depend on n.
template <class T>
T made(long n) {
  if constexpr (std::is_same_v<T, mixed>) {
    return {static_cast<double>(n), static_cast<int>(n + 1), static_cast<char>(n % 100), n * n, static_cast<float>(n + 3)};
  } else if constexpr (std::is_same_v<T, without_default>) {
    return T{n};
  } else if constexpr (std::is_same_v<T, aligned>) {
    return {n, -n, n * 3, n * 5};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return std::string(static_cast<std::size_t>(n % 40), 'x') + std::to_string(n);
  } else {
    T t;
    for (std::size_t i = 0; i < t.all.size(); ++i)
      t.all[i] = static_cast<typename decltype(t.all)::value_type>(static_cast<long>(i) * 1000 + n);
    return t;
  }
}

template <class T>
class Forwarding : public testing::Test {};
using handed_over = testing::Types<words<std::uint64_t, 1>, words<std::uint64_t, 2>, words<std::uint64_t, 3>, words<std::uint64_t, 5>,
                                   words<std::uint64_t, 8>, words<double, 15>, words<std::uint64_t, 16>, words<std::uint64_t, 17>,
                                   words<int, 3>, words<int, 5>, words<float, 7>, words<int, 11>, words<std::uint8_t, 40>,
                                   words<std::uint16_t, 13>, mixed, without_default, aligned, std::string>;
TYPED_TEST_SUITE(Forwarding, handed_over);

TYPED_TEST(Forwarding, CopiesAreEqual) {
  for (long n = 0; n < 100; ++n) {
    auto kept = made<TypeParam>(n);
    auto handed = made<TypeParam>(n);  // both are moved where copies cost more
    EXPECT_EQ(nopal::core::stored_copy<TypeParam>(kept), made<TypeParam>(n));
    EXPECT_EQ(nopal::core::outgoing<TypeParam>(handed), made<TypeParam>(n));
  }
}

TYPED_TEST(Forwarding, ReferencesStayReferences) {
  auto from = made<TypeParam>(7);
  EXPECT_EQ(&nopal::core::outgoing<TypeParam&>(from), &from);
  EXPECT_EQ(&nopal::core::stored_copy<TypeParam&>(from), &from);
}

template <class T>
nopal::task<long> wrong(T by_value, long depth, long n, T second) {
  long const here = (by_value == made<T>(n) ? 0 : 1) + (second == made<T>(n + 1) ? 0 : 1);
  if (depth == 0) co_return here;
  long a = 0;
  long b = 0;
  co_await nopal::fork(&a, wrong<T>, made<T>(2 * n), depth - 1, 2 * n, made<T>(2 * n + 1));
  co_await nopal::call(&b, wrong<T>, made<T>(2 * n + 1), depth - 1, 2 * n + 1, made<T>(2 * n + 2));
  co_await nopal::join;
  co_return here + a + b;
}

TYPED_TEST(Forwarding, ChildrenGetTheirArguments) {
  test::on_lazy_and_busy_pools(
      [](nopal::pool& pool) { EXPECT_EQ(pool.run(wrong<TypeParam>, made<TypeParam>(1), 9L, 1L, made<TypeParam>(2)), 0); });
}

template <class T>
long wrong_in_closures(T const& value, long depth, long n) {
  long const here = value == made<T>(n) ? 0 : 1;
  if (depth == 0) return here;
  long a = 0;
  long b = 0;
  T const left = made<T>(2 * n);
  T const right = made<T>(2 * n + 1);
  nopal::parallel_invoke([&a, left, depth, n] { a = wrong_in_closures(left, depth - 1, 2 * n); },
                         [&b, right, depth, n] { b = wrong_in_closures(right, depth - 1, 2 * n + 1); });
  return here + a + b;
}

TYPED_TEST(Forwarding, BranchesKeepTheirClosures) {
  test::on_lazy_and_busy_pools([](nopal::pool& pool) {
    auto const first = made<TypeParam>(1);
    EXPECT_EQ(pool.run([&first] { return wrong_in_closures(first, 9, 1); }), 0);
  });
}

}  // namespace
