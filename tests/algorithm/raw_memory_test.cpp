// Objects that are constructed in raw memory, and destroyed: uninitialized_copy and its relatives, destroy.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/destroy.hpp"
#include "nopal/algorithm/uninitialized.hpp"
#include "nopal/stop.hpp"

namespace {

/// Memory for n objects.
template <class T>
struct memory {
  explicit memory(std::size_t n) : size{n}, data{std::allocator<T>{}.allocate(n)} {}
  ~memory() { std::allocator<T>{}.deallocate(data, size); }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  [[nodiscard]] T* begin() const { return data; }
  [[nodiscard]] T* end() const { return data + size; }

  std::size_t size;
  T* data;
};

/// Counts its living instances. The copy of value `fails`, and of every 50th after it, throws.
struct counted {
  static inline std::atomic<long> alive = 0;
  static inline std::atomic<long> fails = -1;
  long n;
  counted() : counted{5} {}
  explicit counted(long value) : n{value} { ++alive; }
  counted(const counted& o) : n{o.n} {
    const long first = fails.load();
    if (first >= 0 && n >= first && (n - first) % 50 == 0) throw test::thrown{static_cast<std::size_t>(n)};
    ++alive;
  }
  counted(counted&& o) : counted{static_cast<const counted&>(o)} { o.n = -1; }
  ~counted() { --alive; }
};

TEST(raw_memory, makes_copies_and_moves) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      std::vector<std::string> v(n);
      for (std::size_t i = 0; i < n; ++i) v[i] = std::to_string(i) + " is a text that lies on the heap";
      const auto of_v = v;
      const auto count = static_cast<std::ptrdiff_t>(n);
      const memory<std::string> m{n + 1};
      const auto copied = nopal::uninitialized_copy(v, m);
      EXPECT_EQ(copied.in, v.end());
      EXPECT_EQ(copied.out, m.begin() + n);
      EXPECT_TRUE(std::equal(v.begin(), v.end(), m.begin()));
      EXPECT_EQ(nopal::destroy(m.begin(), copied.out), copied.out);
      EXPECT_EQ(nopal::uninitialized_copy_n(v.begin(), count, m.begin(), m.end()).out, copied.out);
      EXPECT_TRUE(std::equal(v.begin(), v.end(), m.begin()));
      EXPECT_EQ(nopal::destroy_n(m.begin(), count), copied.out);
      EXPECT_EQ(nopal::uninitialized_move(v.begin(), v.end(), m.begin(), m.end()).in, v.end());
      EXPECT_TRUE(std::equal(of_v.begin(), of_v.end(), m.begin()));
      EXPECT_TRUE(std::ranges::all_of(v, &std::string::empty));
      EXPECT_EQ(nopal::uninitialized_move_n(m.begin(), count, m.begin(), m.begin()).in, m.begin()) << "there is room for none";
      nopal::destroy(std::span{m.begin(), n});
      const memory<long> longs{n};
      EXPECT_EQ(nopal::uninitialized_copy(std::views::iota(0L), longs).out, longs.end());
      EXPECT_TRUE(std::ranges::equal(longs, std::views::iota(0L, static_cast<long>(n))));
      EXPECT_EQ(nopal::destroy(longs), longs.end());
    }
  });
}

TEST(raw_memory, makes_values) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto count = static_cast<std::ptrdiff_t>(n);
      const memory<counted> m{n};
      const auto made = [&](long value) {
        EXPECT_EQ(counted::alive.load(), count);
        EXPECT_TRUE(std::ranges::all_of(m, [&](const counted& x) { return x.n == value; }));
        nopal::destroy_n(m.begin(), count);
        EXPECT_EQ(counted::alive.load(), 0);
      };
      EXPECT_EQ(nopal::uninitialized_fill(m, 7L), m.end());
      made(7);
      EXPECT_EQ(nopal::uninitialized_fill_n(m.begin(), count, 8L), m.end());
      made(8);
      EXPECT_EQ(nopal::uninitialized_default_construct(m), m.end());
      made(5);
      EXPECT_EQ(nopal::uninitialized_default_construct_n(m.begin(), count), m.end());
      made(5);
      EXPECT_EQ(nopal::uninitialized_value_construct(m.begin(), m.end()), m.end());
      made(5);
      EXPECT_EQ(nopal::uninitialized_value_construct_n(m.begin(), count), m.end());
      made(5);
      const memory<int> ints{n};
      std::ranges::uninitialized_fill(ints, 3);
      nopal::uninitialized_value_construct(ints);
      EXPECT_EQ(std::ranges::count(ints, 0), count);
    }
  });
}

TEST(raw_memory, leaves_nothing_where_one_is_not_made) {
  test::everywhere([] {
    for (const std::size_t n : {1U, 2U, 7U, 64U, 3000U}) {
      std::vector<counted> v;
      v.reserve(n);
      for (std::size_t i = 0; i < n; ++i) v.emplace_back(static_cast<long>(i));
      const memory<counted> m{n};
      for (std::size_t at = 0; at < n; at += n < 100 ? 1 : 271) {
        const auto fails = [&](const auto& f, std::size_t with) {
          try {
            f();
            ADD_FAILURE() << "nothing was thrown";
          } catch (const test::thrown& e) {
            EXPECT_EQ(e.where, with);
          }
          EXPECT_EQ(counted::alive.load(), static_cast<long>(n));
        };
        counted::fails = static_cast<long>(at);
        fails([&] { nopal::uninitialized_copy(v, m); }, at);
        fails([&] { nopal::uninitialized_copy_n(v.begin(), static_cast<std::ptrdiff_t>(n), m.begin(), m.end()); }, at);
        fails([&] { nopal::uninitialized_fill(m, v[at]); }, at);
        fails([&] { nopal::uninitialized_move(v, m); }, at);
        counted::fails = -1;
        for (std::size_t i = 0; i < n; ++i) v[i].n = static_cast<long>(i);
      }
    }
    EXPECT_EQ(counted::alive.load(), 0);
  });
}

// A stopped algorithm leaves no objects, and destroy destroys all even if stopped.
TEST(raw_memory, leaves_nothing_where_it_is_stopped) {
  test::everywhere([] {
    const std::size_t n = 5000;
    const memory<counted> m{n};
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(nopal::with_stop(source.get_token(), [&] { nopal::uninitialized_default_construct(m); }), nopal::stopped);
    EXPECT_EQ(counted::alive.load(), 0);
    nopal::uninitialized_default_construct(m);
    nopal::with_stop(source.get_token(), [&] { nopal::destroy(m); });
    EXPECT_EQ(counted::alive.load(), 0);
  });
}

}  // namespace
