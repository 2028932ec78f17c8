// Algorithms that take each element, or look for one: as those without a policy.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "places.hpp"

namespace {

using namespace test;

const auto is_even = [](int x) { return x % 2 == 0; };

TEST(elements, for_each_takes_each_once) {
  in_all_sizes([](auto& policy, std::size_t n) {
    std::vector<int> v(n);
    std::for_each(policy, v.begin(), v.end(), [](int& x) { ++x; });
    std::for_each_n(policy, v.data(), n, [](int& x) { ++x; });
    EXPECT_EQ(v, std::vector<int>(n, 2));
    std::deque<std::string> d(n);
    std::for_each(policy, d.begin(), d.end(), [](std::string& x) { x += 'x'; });
    EXPECT_EQ(d, std::deque<std::string>(n, "x"));
  });
}

TEST(elements, of_lists_are_taken_too) {
  by_both_policies([](auto& policy) {
    auto list = values<std::list<int>>(1000);
    const std::vector<int> before(list.begin(), list.end());
    std::for_each(policy, list.begin(), list.end(), [](int& x) { ++x; });
    std::vector<int> after(1000);
    std::transform(policy, list.begin(), list.end(), after.begin(), [](int x) { return x - 1; });
    EXPECT_EQ(after, before);
    std::forward_list<std::string> short_list(100, "x");
    EXPECT_EQ(std::count(policy, short_list.begin(), short_list.end(), "x"), 100);
  });
}

TEST(elements, transform_and_its_kin) {
  in_all_sizes([](auto& policy, std::size_t n) {
    const std::vector<int> from = vector_of<int>(n);
    std::vector<std::string> to(n);
    std::vector<std::string> expected(n);
    const auto text = [](int x) { return std::to_string(x); };
    EXPECT_EQ(std::transform(policy, from.begin(), from.end(), to.begin(), text), to.end());
    std::transform(from.begin(), from.end(), expected.begin(), text);
    EXPECT_EQ(to, expected);
    std::vector<long> products(n);
    std::transform(policy, from.begin(), from.end(), from.begin(), products.begin(), std::multiplies<long>{});
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(products[i], long{from[i]} * from[i]);
    std::vector<int> copy(n);
    EXPECT_EQ(std::copy(policy, from.begin(), from.end(), copy.begin()), copy.end());
    EXPECT_EQ(copy, from);
    std::replace_if(policy, copy.begin(), copy.end(), is_even, 1);
    EXPECT_EQ(std::count_if(policy, copy.begin(), copy.end(), is_even), 0);
    std::fill(policy, copy.begin(), copy.end(), 7);
    EXPECT_EQ(copy, std::vector<int>(n, 7));
    std::generate(policy, copy.begin(), copy.end(), [] { return 8; });
    EXPECT_EQ(copy, std::vector<int>(n, 8));
    copy = from;
    std::reverse(policy, copy.begin(), copy.end());
    EXPECT_TRUE(std::equal(policy, copy.begin(), copy.end(), from.rbegin()));
    std::vector<int> other(n);
    std::swap_ranges(policy, copy.begin(), copy.end(), other.begin());
    EXPECT_TRUE(std::equal(other.begin(), other.end(), from.rbegin()));
    std::vector<int> differences(n);
    std::vector<int> expected_differences(n);
    if (n > 0) std::adjacent_difference(policy, from.begin(), from.end(), differences.begin());
    std::adjacent_difference(from.begin(), from.end(), expected_differences.begin());
    EXPECT_EQ(differences, expected_differences);
  });
}

TEST(elements, rotate_moves_strings) {
  in_all_sizes(
      [](auto& policy, std::size_t n) {
        for (const std::size_t by : {n / 3, n - n / 3, n}) {
          std::vector<std::string> v = vector_of<std::string>(n);
          std::vector<std::string> expected = v;
          const auto place = std::rotate(policy, v.begin(), v.begin() + static_cast<std::ptrdiff_t>(by), v.end());
          const auto expected_place = std::rotate(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(by), expected.end());
          EXPECT_EQ(v, expected);
          EXPECT_EQ(place - v.begin(), expected_place - expected.begin());
        }
      },
      some);
}

TEST(elements, are_found) {
  in_all_sizes([](auto& policy, std::size_t n) {
    std::vector<int> v = vector_of<int>(n);
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1, n}) {
      if (at > n) continue;
      std::vector<int> w = v;
      if (at < n) w[at] = -1;
      if (at + 5 < n) w[at + 5] = -1;
      const auto place = static_cast<std::ptrdiff_t>(at);
      EXPECT_EQ(std::find(policy, w.begin(), w.end(), -1) - w.begin(), place);
      EXPECT_EQ(std::find_if_not(policy, w.data(), w.data() + n, [](int x) { return x >= 0; }) - w.data(), place);
      EXPECT_EQ(std::any_of(policy, w.begin(), w.end(), [](int x) { return x < 0; }), at < n);
      EXPECT_EQ(std::all_of(policy, w.begin(), w.end(), [](int x) { return x >= 0; }), at == n);
      EXPECT_EQ(std::mismatch(policy, w.begin(), w.end(), v.begin()).first - w.begin(), place);
      EXPECT_EQ(std::equal(policy, w.begin(), w.end(), v.begin()), at == n);
      EXPECT_EQ(std::lexicographical_compare(policy, w.begin(), w.end(), v.begin(), v.end()), at < n);
      const int wanted[] = {-1, -2};
      EXPECT_EQ(std::find_first_of(policy, w.begin(), w.end(), wanted, wanted + 2) - w.begin(), place);
      EXPECT_EQ(std::search(policy, w.begin(), w.end(), wanted, wanted + 1) - w.begin(), place);
    }
    EXPECT_EQ(std::adjacent_find(policy, v.begin(), v.end()), std::adjacent_find(v.begin(), v.end()));
    EXPECT_EQ(std::count(policy, v.begin(), v.end(), 7), std::count(v.begin(), v.end(), 7));
  });
}

TEST(elements, that_stay_keep_their_order) {
  in_all_sizes(
      [](auto& policy, std::size_t n) {
        const std::vector<int> v = vector_of<int>(n, 10);
        std::vector<int> kept(n);
        std::vector<int> expected(n);
        kept.erase(std::copy_if(policy, v.begin(), v.end(), kept.begin(), is_even), kept.end());
        expected.erase(std::copy_if(v.begin(), v.end(), expected.begin(), is_even), expected.end());
        EXPECT_EQ(kept, expected);
        std::vector<std::string> s = vector_of<std::string>(n, 3);
        std::vector<std::string> t = s;
        s.erase(std::remove(policy, s.begin(), s.end(), nth<std::string>(0, 3)), s.end());
        t.erase(std::remove(t.begin(), t.end(), nth<std::string>(0, 3)), t.end());
        EXPECT_EQ(s, t);
        s.erase(std::unique(policy, s.begin(), s.end()), s.end());
        t.erase(std::unique(t.begin(), t.end()), t.end());
        EXPECT_EQ(s, t);
        std::vector<int> u(n);
        std::vector<int> w(n);
        u.erase(std::unique_copy(policy, v.begin(), v.end(), u.begin()), u.end());
        w.erase(std::unique_copy(v.begin(), v.end(), w.begin()), w.end());
        EXPECT_EQ(u, w);
        std::vector<int> evens(n);
        std::vector<int> odds(n);
        const auto ends = std::partition_copy(policy, v.begin(), v.end(), evens.begin(), odds.begin(), is_even);
        EXPECT_EQ(static_cast<std::size_t>((ends.first - evens.begin()) + (ends.second - odds.begin())), n);
        EXPECT_TRUE(std::all_of(evens.begin(), ends.first, is_even));
        EXPECT_TRUE(std::none_of(odds.begin(), ends.second, is_even));
      },
      some);
}

TEST(elements, are_parted) {
  in_all_sizes([](auto& policy, std::size_t n) {
    std::vector<only_moved> v = vector_of<only_moved>(n);
    const auto small = [](const only_moved& x) { return x.value < 300; };
    const auto many = std::count_if(v.begin(), v.end(), small);
    EXPECT_EQ(std::is_partitioned(policy, v.begin(), v.end(), small), std::is_partitioned(v.begin(), v.end(), small));
    EXPECT_EQ(std::partition(policy, v.begin(), v.end(), small) - v.begin(), many);
    EXPECT_TRUE(std::is_partitioned(policy, v.begin(), v.end(), small));
    std::vector<int> w = vector_of<int>(n);
    std::vector<int> expected = w;
    std::stable_partition(policy, w.begin(), w.end(), is_even);
    std::stable_partition(expected.begin(), expected.end(), is_even);
    EXPECT_EQ(w, expected);
  });
}

/// Counts how often values are moved.
struct counts_moves {
  static inline std::atomic<long> moves{0};
  int value;
  explicit counts_moves(int v) : value{v} {}
  counts_moves(counts_moves&& other) noexcept : value{other.value} { ++moves; }
  counts_moves& operator=(counts_moves&& other) noexcept {
    value = other.value;
    ++moves;
    return *this;
  }
};

// Joining two parts rotates a part of both. One thread that joins small parts to all before them moves each element hundreds of times.
TEST(elements, are_parted_stably_in_few_moves) {
  constexpr int n = 300'000;
  nopal::pool one{{.workers = 1}};
  one.run([] {
    std::vector<counts_moves> v;
    for (int k = 0; k < n; ++k) v.emplace_back(k);
    counts_moves::moves = 0;
    std::stable_partition(std::execution::par, v.begin(), v.end(), [](const counts_moves& x) { return x.value % 2 != 0; });
    EXPECT_EQ(v[n / 2].value, 0);
    EXPECT_EQ(v[n / 2 - 1].value, n - 1);
    EXPECT_LT(counts_moves::moves, 40L * n);
  });
}

TEST(elements, are_made_in_raw_memory) {
  in_all_sizes(
      [](auto& policy, std::size_t n) {
        const std::vector<std::string> from = vector_of<std::string>(n);
        std::allocator<std::string> memory;
        std::string* const to = memory.allocate(n + 1);
        EXPECT_EQ(std::uninitialized_copy(policy, from.begin(), from.end(), to), to + n);
        EXPECT_TRUE(std::equal(from.begin(), from.end(), to));
        std::destroy(policy, to, to + n);
        std::uninitialized_fill(policy, to, to + n, "again");
        EXPECT_EQ(std::count(to, to + n, "again"), static_cast<std::ptrdiff_t>(n));
        std::destroy_n(policy, to, n);
        std::uninitialized_value_construct(policy, to, to + n);
        std::destroy(to, to + n);
        memory.deallocate(to, n + 1);
      },
      some);
}

TEST(elements, of_bools_that_share_a_word_are_written_by_one_thread) {
  by_both_policies([](auto& policy) {
    std::vector<bool> v(100'003);
    std::fill(policy, v.begin(), v.end(), true);
    EXPECT_EQ(std::count(policy, v.cbegin(), v.cend(), true), 100'003);
    std::sort(policy, v.begin(), v.end());
    std::replace(policy, v.begin(), v.end(), true, false);
    EXPECT_EQ(std::find(v.begin(), v.end(), true), v.end());
  });
}

/// How many threads have called f in run(f). A call takes long enough that others would take part if they could.
template <class Run>
std::size_t threads_of(const Run& run) {
  std::mutex lock;
  std::set<std::thread::id> threads;
  std::atomic<std::uint64_t> sum{0};
  run([&] {
    std::uint64_t x = 1;
    for (int i = 0; i < 100; ++i) x = mix(x);
    sum += x;
    const std::lock_guard held{lock};
    threads.insert(std::this_thread::get_id());
  });
  return threads.size();
}

TEST(elements, of_bools_are_partitioned_and_taken_in_reverse_by_one_thread) {
  by_both_policies([](auto& policy) {
    std::vector<bool> v(20'011);
    const auto fill = [&] {
      for (std::size_t i = 0; i < v.size(); ++i) v[i] = i % 3 == 0;
    };
    const std::ptrdiff_t trues = 20'011 / 3 + 1;
    const auto partitioned = [&](auto&& algorithm) {
      fill();
      EXPECT_EQ(threads_of([&](const auto& call) {
                  const auto middle = algorithm(v.begin(), v.end(), [&](bool x) {
                    call();
                    return x;
                  });
                  EXPECT_EQ(middle - v.begin(), trues);
                }),
                1u);
      EXPECT_EQ(std::find(v.begin(), v.end(), false) - v.begin(), trues);
      EXPECT_EQ(std::count(v.begin(), v.end(), true), trues);
    };
    partitioned([&](auto first, auto last, auto is) { return std::partition(policy, first, last, is); });
    partitioned([&](auto first, auto last, auto is) { return std::stable_partition(policy, first, last, is); });
    fill();  // few, since the library takes equal elements one by one
    EXPECT_EQ(threads_of([&](const auto& call) {
                std::nth_element(policy, v.begin(), v.begin() + 1'000, v.begin() + 2'000, [&](bool a, bool b) {
                  call();
                  return a < b;
                });
              }),
              1u);
    EXPECT_EQ(std::count(v.begin(), v.begin() + 1'000, true), 0);
    EXPECT_EQ(std::count(v.begin(), v.end(), true), trues);
    fill();
    EXPECT_EQ(threads_of([&](const auto& call) {
                std::for_each(policy, v.rbegin(), v.rend(), [&](std::vector<bool>::reference x) {
                  call();
                  x.flip();
                });
              }),
              1u);
    EXPECT_EQ(std::count(v.begin(), v.end(), false), trues);
  });
}

}  // namespace
