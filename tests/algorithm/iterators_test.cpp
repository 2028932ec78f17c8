// Iterators that are no pointers: that count where one is formed outside of the range, and that give a part of each object.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <memory_resource>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm.hpp"

namespace {

std::atomic<int> formed_outside{0};

/// Knows its range. What would be outside is at the end that it passes.
template <class T>
class guarded {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::remove_const_t<T>;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = T&;

  guarded() = default;
  guarded(T* first, T* last, T* at) : first_{first}, last_{last}, at_{at} {}

  T& operator*() const {
    if (at_ == last_) ++formed_outside;
    return *at_;
  }
  T& operator[](std::ptrdiff_t n) const { return *(*this + n); }
  guarded& operator+=(std::ptrdiff_t n) {
    if (n < first_ - at_ || n > last_ - at_) {
      ++formed_outside;
      n = n < 0 ? first_ - at_ : last_ - at_;
    }
    at_ += n;
    return *this;
  }
  guarded& operator-=(std::ptrdiff_t n) { return *this += -n; }
  guarded& operator++() { return *this += 1; }
  guarded& operator--() { return *this -= 1; }
  guarded operator++(int) { return std::exchange(*this, *this + 1); }
  guarded operator--(int) { return std::exchange(*this, *this - 1); }
  friend guarded operator+(guarded it, std::ptrdiff_t n) { return it += n; }
  friend guarded operator+(std::ptrdiff_t n, guarded it) { return it += n; }
  friend guarded operator-(guarded it, std::ptrdiff_t n) { return it -= n; }
  friend std::ptrdiff_t operator-(const guarded& a, const guarded& b) { return a.at_ - b.at_; }
  friend bool operator==(const guarded& a, const guarded& b) { return a.at_ == b.at_; }
  friend auto operator<=>(const guarded& a, const guarded& b) { return a.at_ <=> b.at_; }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
  T* at_ = nullptr;
};
static_assert(std::random_access_iterator<guarded<int>> && !std::contiguous_iterator<guarded<int>>);

template <class V>
auto guard(V& v) {
  using T = std::remove_reference_t<decltype(*v.data())>;
  T* const first = v.data();
  T* const last = first + v.size();
  return std::ranges::subrange{guarded<T>{first, last, first}, guarded<T>{first, last, last}};
}
bool is_third(int x) { return x % 3 == 0; }
bool is_greatest(int x) { return x == 999; }

#ifdef __OPTIMIZE__
constexpr unsigned many = 70'000;
#else
constexpr unsigned many = 34'000;  // merges of as many work in parallel
#endif
constexpr std::array<std::size_t, 7> guarded_sizes = {0, 1, 2, 65, 1000, 5000, test::sanitized ? 40'000 : 140'000};

TEST(iterators, copy_a_rotated_range_without_leaving_it) {
  test::everywhere([] {
    for (const std::size_t n : guarded_sizes) {
      const auto v = test::numbers<int>(n, 1000);
      std::vector<int> out(n);
      std::vector<int> expected(n);
      for (const std::size_t k : {std::size_t{0}, std::min<std::size_t>(n, 1), n / 3, n - n / 3, n}) {
        const auto at = static_cast<std::ptrdiff_t>(k);
        const auto from = guard(v);
        nopal::rotate_copy(from, from.begin() + at, guard(out).begin());
        std::ranges::rotate_copy(v, v.begin() + at, expected.begin());
        EXPECT_TRUE(out == expected);
        EXPECT_EQ(formed_outside.exchange(0), 0) << n << ' ' << k;
      }
    }
  });
}

TEST(iterators, are_formed_only_within_what_is_read) {
  test::everywhere([] {
    for (const std::size_t n : guarded_sizes) {
      const auto v = test::numbers<int>(n, 1000);
      auto in_order = v;
      std::ranges::sort(in_order);
      const std::vector<int> few(v.end() - static_cast<std::ptrdiff_t>(n / 10), v.end());
      std::vector<int> out(2 * n);
      std::vector<int> other(n);
      const auto a = guard(v);
      const auto b = guard(in_order);
      const auto c = guard(few);
      const auto to = guard(out).begin();
      const auto inside = [n](const char* what) { EXPECT_EQ(formed_outside.exchange(0), 0) << what << ", " << n; };
      nopal::copy(a, to), nopal::reverse_copy(a, to), nopal::copy_if(a, to, is_third), nopal::replace_copy(a, to, 7, 8);
      inside("copies");
      nopal::partition_copy(a, to, guard(other).begin(), is_third);
      nopal::partial_sort_copy(a, guard(other));
      inside("copies of parts");
      static_cast<void>(nopal::find(a, 1000)), static_cast<void>(nopal::find(a, 999)), static_cast<void>(nopal::adjacent_find(a));
      static_cast<void>(nopal::find_first_of(a, c)), static_cast<void>(nopal::find_first_of(a, guard(out)));
      static_cast<void>(nopal::search(a, c)), static_cast<void>(nopal::find_end(a, c));
      inside("searches");
      static_cast<void>(nopal::equal(a, a)), static_cast<void>(nopal::mismatch(a, b));
      static_cast<void>(nopal::lexicographical_compare(a, a)), static_cast<void>(nopal::is_sorted(b));
      static_cast<void>(nopal::is_partitioned(b, is_greatest)), static_cast<void>(nopal::includes(b, b));
      inside("comparisons");
      nopal::count(a, 7), nopal::histogram(a, 1000), nopal::reduce(a, 0L), nopal::minmax_element(a), nopal::max_element(a);
      nopal::inclusive_scan(a, to), nopal::exclusive_scan(a, to, 0), nopal::adjacent_difference(a, to);
      nopal::transform(a, b, to, std::plus<>{});
      inside("sums and scans");
      nopal::merge(b, b, to), nopal::set_union(b, b, to), nopal::set_intersection(b, b, to), nopal::set_difference(b, b, to);
      inside("merges");
    }
  });
}

TEST(iterators, are_formed_only_within_what_is_rearranged) {
  test::everywhere([] {
    for (const std::size_t n : guarded_sizes) {
      const auto before = test::numbers<int>(n, 1000);
      auto in_order = before;
      std::ranges::sort(in_order);
      auto v = before;
      const auto a = guard(v);
      const auto third = a.begin() + static_cast<std::ptrdiff_t>(n / 3);
      const auto inside = [n](const char* what) { EXPECT_EQ(formed_outside.exchange(0), 0) << what << ", " << n; };
      nopal::reverse(a), nopal::rotate(a, third), nopal::swap_ranges(a.begin(), third, third, a.end());
      inside("swaps");
      nopal::partition(a, is_third), nopal::stable_partition(a, is_greatest), nopal::nth_element(a, third);
      nopal::partial_sort(a, third);
      inside("partitions");
      v = before;
      nopal::sort(a, [](int x, int y) { return x < y; });
      EXPECT_TRUE(v == in_order);
      v = before;
      nopal::stable_sort(a, [](int x, int y) { return x < y; });
      EXPECT_TRUE(v == in_order);
      std::ranges::rotate(v, v.begin() + static_cast<std::ptrdiff_t>(n / 3));
      nopal::inplace_merge(a, a.end() - static_cast<std::ptrdiff_t>(n / 3));
      EXPECT_TRUE(v == in_order);
      inside("sorts");
      static_cast<void>(nopal::unique(a)), static_cast<void>(nopal::remove_if(a, is_third));
      nopal::replace(a, 7, 8), nopal::for_each(a, [](int& x) { ++x; });
      nopal::fill(a, 7), nopal::generate(a, [] { return 1; }), nopal::iota(a, 1);
      inside("writes");
    }
  });
}

// The smallest sorts merge two halves from both ends at once.
TEST(iterators, are_formed_only_within_the_halves_of_a_small_merge) {
  for (std::size_t n = 2; n <= 33; ++n) {
    for (const std::uint64_t below : {1U, 3U, 1000U}) {
      for (const int more : {0, 1000, -1000}) {
        auto v = test::numbers<int>(n, below);
        const auto half = v.begin() + static_cast<std::ptrdiff_t>(n / 2);
        std::for_each(v.begin(), half, [more](int& x) { x += more; });
        std::sort(v.begin(), half);
        std::sort(half, v.end());
        std::vector<int> out(n);
        nopal::core::algorithms::merge_halves(guard(v).begin(), out.data(), n, std::less<>{});
        std::ranges::sort(v);
        EXPECT_TRUE(out == v) << n;
        EXPECT_EQ(formed_outside.exchange(0), 0) << n << ' ' << below << ' ' << more;
      }
    }
  }
}

/// A number whose assignment may throw, and unless `SurelyMade` its moves, too.
template <bool SurelyMade>
struct number_that_throws {
  number_that_throws(int k) : key{k} {}  // NOLINT(google-explicit-constructor)
  number_that_throws(const number_that_throws&) = default;
  number_that_throws(number_that_throws&& o) noexcept(SurelyMade) : key{o.key} {}
  number_that_throws& operator=(const number_that_throws&) = default;
  number_that_throws& operator=(number_that_throws&& o) noexcept(false) {
    key = o.key;
    return *this;
  }
  ~number_that_throws() = default;
  int key;
  friend auto operator<=>(const number_that_throws&, const number_that_throws&) = default;
};
using unsure = number_that_throws<false>;    // sorted and merged in place
using half_sure = number_that_throws<true>;  // sorted in a buffer, and comes back
namespace algorithms = nopal::core::algorithms;
static_assert(!algorithms::is_relocatable<guarded<unsure>> && !algorithms::is_borrowable<guarded<unsure>>);
static_assert(!algorithms::is_relocatable<guarded<half_sure>> && algorithms::is_borrowable<guarded<half_sure>>);

/// As std::ranges::stable_partition. (Clang warns of how that of GCC 12 gets its memory.)
template <class R, class Pred>
void divides(R& range, const Pred& pred) {
  R divided;
  for (const bool first : {true, false}) {
    std::ranges::copy_if(range, std::back_inserter(divided), [&](const auto& x) { return pred(x) == first; });
  }
  range = std::move(divided);
}

/// Calls sort(range, less) and so on, of n numbers as T. `slowly`: comparisons take a microsecond or more.
template <class T>
void rearranges_within(std::size_t n, bool slowly) {
  const auto numbers = test::numbers<int>(n, 100);
  const std::vector<T> before(numbers.begin(), numbers.end());
  const auto takes_long = [slowly] {
    for (int k = 0; slowly && k < 1000; ++k) std::atomic_signal_fence(std::memory_order::seq_cst);
  };
  const auto less = [=](const T& x, const T& y) {
    takes_long();
    return x < y;
  };
  const auto third = [=](const T& x) {
    takes_long();
    return x.key % 3 == 0;
  };
  auto in_order = before;
  std::ranges::sort(in_order);
  auto divided = before;
  divides(divided, third);
  auto v = before;
  const auto a = guard(v);
  const auto inside = [=](const char* what) { EXPECT_EQ(formed_outside.exchange(0), 0) << what << ", " << n << ' ' << slowly; };
  nopal::sort(a, less);
  EXPECT_TRUE(v == in_order);
  inside("sort");
  v = before;
  nopal::stable_sort(a, less);
  EXPECT_TRUE(v == in_order);
  inside("stable_sort");
  for (const std::size_t k : {std::size_t{0}, std::min<std::size_t>(n, 1), n / 3, n - n / 3, n}) {
    v = before;
    const auto middle = static_cast<std::ptrdiff_t>(k);
    std::sort(v.begin(), v.begin() + middle);
    std::sort(v.begin() + middle, v.end());
    nopal::inplace_merge(a, a.begin() + middle, less);
    EXPECT_TRUE(v == in_order);
    v = in_order;
    std::ranges::rotate(v, v.begin() + middle);
    nopal::inplace_merge(a, a.end() - middle, less);
    EXPECT_TRUE(v == in_order);
    inside("inplace_merge");
    v = before;
    nopal::nth_element(a, a.begin() + middle, less);
    nopal::partial_sort(a, a.begin() + middle, less);
    EXPECT_TRUE(std::equal(v.begin(), v.begin() + middle, in_order.begin()));
    inside("the first elements");
  }
  v = before;
  nopal::stable_partition(a, third);
  EXPECT_TRUE(v == divided);
  nopal::partition(a, third);
  inside("partitions");
}
TEST(iterators, are_formed_only_within_what_is_sorted_in_any_way) {
  test::everywhere([] {
    for (const std::size_t n : {0U, 1U, 2U, 3U, 5U, 21U, 33U, 200U, 5000U, many}) {
      for (const bool slowly : {false, true}) {
        if (slowly && n > 200) continue;
        rearranges_within<unsure>(n, slowly);
        rearranges_within<half_sure>(n, slowly);
      }
    }
  });
}

/// A base. It moves as a number does; what is around it must notice nothing.
struct base_part {
  explicit base_part(int k) : key{k} {}
  base_part(const base_part&) = default;
  base_part& operator=(const base_part&) = default;
  virtual ~base_part() = default;
  [[nodiscard]] virtual int all_of_it() const { return 0; }
  int key;
};
struct whole : base_part {
  explicit whole(int k, int n) : base_part{k}, own{n} {}
  whole(const whole&) = default;
  whole& operator=(const whole&) = default;
  ~whole() override { ++ended; }
  [[nodiscard]] int all_of_it() const override { return own; }
  int own;
  static inline std::atomic<int> ended{0};
};
/// A base with unused bytes at its end, where a derived object has its member. Cheap to copy.
class padded_part {
 public:
  explicit padded_part(int k) : key{k} {}
  int key;

 private:
  [[maybe_unused]] char unused_ = 0;
};
struct whole_with_padded_part : padded_part {
  explicit whole_with_padded_part(int k, int n) : padded_part{k}, own{static_cast<char>(n)} {}
  [[nodiscard]] int all_of_it() const { return own; }
  char own;
};
static_assert(sizeof(whole_with_padded_part) == sizeof(padded_part) && nopal::core::algorithms::is_cheap<padded_part>);

/// Calls check(parts, keys, expect_keys) with parts that have these keys, each of a larger object. Afterwards every object must be alive, and
/// have its own member still. expect_keys(keys) requires that the parts have these keys.
template <class Whole, class Part, class Check>
void rearranges_parts(Check check) {
  test::everywhere([&] {
    for (const std::size_t n : {2U, 3U, 40U, 1500U, 5000U, many}) {
      const auto keys = test::numbers<int>(n, 1000);
      std::vector<Whole> objects;
      objects.reserve(n);
      for (const int key : keys) objects.emplace_back(key, static_cast<int>(objects.size() % 100));
      const auto parts = objects | std::views::transform([](Whole& x) -> Part& { return x; });
      const auto expect_keys = [&](const std::vector<int>& expected) {
        EXPECT_TRUE(std::ranges::equal(objects, expected, {}, [](const Whole& x) { return x.key; })) << n;
      };
      const int ended = whole::ended.load();
      check(parts, keys, expect_keys);
      EXPECT_EQ(whole::ended.load(), ended) << n;
      for (std::size_t i = 0; i < n; ++i) {
        const Whole* const object = &objects[i];
        ASSERT_EQ(object->all_of_it(), static_cast<int>(i % 100));
      }
    }
  });
}
template <class Whole, class Part>
void rearranges_all_parts() {
  const auto less = [](const Part& a, const Part& b) { return a.key < b.key; };
  rearranges_parts<Whole, Part>([&](auto parts, std::vector<int> keys, auto expect_keys) {
    nopal::stable_sort(parts, less);
    std::ranges::sort(keys);
    expect_keys(keys);
  });
  rearranges_parts<Whole, Part>([&](auto parts, std::vector<int> keys, auto expect_keys) {
    nopal::sort(parts, less);
    std::ranges::sort(keys);
    expect_keys(keys);
  });
  rearranges_parts<Whole, Part>([&](auto parts, std::vector<int> keys, auto expect_keys) {
    nopal::stable_partition(parts, is_third, &Part::key);
    std::vector<int> expected;
    std::ranges::copy_if(keys, std::back_inserter(expected), is_third);
    std::ranges::copy_if(keys, std::back_inserter(expected), std::not_fn(is_third));
    expect_keys(expected);
  });
  rearranges_parts<Whole, Part>([&](auto parts, std::vector<int> keys, auto expect_keys) {
    const auto half = static_cast<std::ptrdiff_t>(keys.size() / 2);
    nopal::sort(parts.begin(), parts.begin() + half, less);
    nopal::sort(parts.begin() + half, parts.end(), less);
    nopal::inplace_merge(parts, parts.begin() + half, less);
    std::ranges::sort(keys);
    expect_keys(keys);
  });
}

TEST(iterators, that_give_bases_leave_the_objects_alive) { rearranges_all_parts<whole, base_part>(); }
TEST(iterators, that_give_bases_leave_what_lies_in_their_padding) { rearranges_all_parts<whole_with_padded_part, padded_part>(); }

// If a comparison throws, each key is still in one of the objects.
TEST(iterators, that_give_bases_keep_all_elements) {
  for (const std::size_t at : {30U, 2000U, 20'000U, 60'000U}) {
    rearranges_parts<whole, base_part>([&](auto parts, std::vector<int> keys, auto) {
      std::atomic<std::size_t> calls{0};
      try {
        nopal::stable_sort(parts, [&](const base_part& a, const base_part& b) {
          if (calls++ == at) throw test::thrown{at};
          return a.key < b.key;
        });
      } catch (const test::thrown&) {
      }
      std::vector<int> left;
      for (const base_part& part : parts) left.push_back(part.key);
      std::ranges::sort(left);
      std::ranges::sort(keys);
      EXPECT_TRUE(left == keys);
    });
  }
}

TEST(iterators, of_a_deque_of_strings_with_allocators) {
  test::everywhere([] {
    for (const std::size_t n : {2U, 40U, 3000U, many}) {
      std::pmr::synchronized_pool_resource memory;
      std::deque<std::pmr::string> strings;
      std::deque<std::pmr::string> expected;
      for (const int x : test::numbers<int>(n, 1000)) {
        strings.emplace_back("as long as none that lies in the string " + std::to_string(x), &memory);
        expected.push_back(strings.back());
      }
      std::ranges::sort(expected);
      const auto before = strings;
      nopal::stable_sort(strings);
      EXPECT_TRUE(strings == expected);
      std::ranges::rotate(strings, strings.begin() + static_cast<std::ptrdiff_t>(n / 3));
      nopal::inplace_merge(strings, strings.end() - static_cast<std::ptrdiff_t>(n / 3));
      EXPECT_TRUE(strings == expected);
      strings = before;
      nopal::stable_partition(strings, [](const auto& s) { return s.ends_with('0'); });
      expected = before;
      divides(expected, [](const auto& s) { return s.ends_with('0'); });
      EXPECT_TRUE(strings == expected);
    }
  });
}

/// Counts itself. Its assignment throws where it is told to.
struct throws_when_assigned {
  explicit throws_when_assigned(int k) : key{k} { ++alive; }
  throws_when_assigned(throws_when_assigned&& o) noexcept : key{o.key} { ++alive; }
  throws_when_assigned& operator=(throws_when_assigned&& o) noexcept(false) {
    if (left.load() > 0 && --left == 0) throw test::thrown{0};
    key = o.key;
    return *this;
  }
  ~throws_when_assigned() { --alive; }
  int key;
  static inline std::atomic<int> alive{0};
  static inline std::atomic<int> left{0};
};
TEST(iterators, of_elements_that_cannot_come_back_leave_as_many) {
  using element = throws_when_assigned;
  const auto tries = [](int n, int at, auto rearrange) {
    {
      std::deque<element> all;
      for (const int x : test::numbers<int>(static_cast<std::size_t>(n), 1000)) all.emplace_back(x);
      std::ranges::sort(all.begin(), all.begin() + n / 2, {}, &element::key);
      std::ranges::sort(all.begin() + n / 2, all.end(), {}, &element::key);
      element::left = at;
      EXPECT_THROW(rearrange(all), test::thrown);
      element::left = 0;
      EXPECT_EQ(element::alive.load(), n);
    }
    EXPECT_EQ(element::alive.load(), 0);
  };
  test::everywhere([&] {
    for (const int n : {100, 3000, static_cast<int>(many)}) {
      for (const int at : {1, n / 2, n - n / 10}) {
        tries(n, at, [](auto& all) { nopal::stable_sort(all, {}, &element::key); });
        tries(n, at, [](auto& all) { nopal::stable_partition(all, is_third, &element::key); });
        tries(n, (at + 1) / 2, [n](auto& all) { nopal::inplace_merge(all, all.begin() + n / 2, {}, &element::key); });
      }
    }
  });
}
// If a comparison throws, all are in the range.
TEST(iterators, of_elements_whose_assignment_may_throw_keep_all_of_them) {
  test::everywhere([] {
    for (const std::size_t n : {100U, 3000U, many}) {
      for (const std::size_t at : {n / 2, 2 * n, 5 * n}) {
        std::deque<std::pmr::string> strings;
        for (const int x : test::numbers<int>(n, 1000)) strings.emplace_back(std::to_string(x));
        auto expected = strings;
        std::atomic<std::size_t> calls{0};
        EXPECT_THROW(nopal::stable_sort(strings,
                                        [&](const auto& a, const auto& b) {
                                          if (calls++ == at) throw test::thrown{at};
                                          return a < b;
                                        }),
                     test::thrown);
        std::ranges::sort(strings);
        std::ranges::sort(expected);
        EXPECT_TRUE(strings == expected);
      }
    }
  });
}

}  // namespace
