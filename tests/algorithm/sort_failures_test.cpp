// sort and stable_sort if something fails: a comparison, a move, memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../scale.hpp"
#include "data.hpp"
#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/sorts.hpp"
#include "nopal/algorithm/merge.hpp"
#include "nopal/algorithm/sort.hpp"

namespace {

/// Requests for at least so many bytes fail.
std::atomic<std::size_t> too_much{~std::size_t{0}};
std::atomic<int> refused{0};

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (size >= too_much.load()) {
    ++refused;
    return nullptr;
  }
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

}  // namespace

// Not inlined: GCC would see memory of new passed to free.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* const p = allocate(size, 16)) return p;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 16); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* const p = allocate(size, static_cast<std::size_t>(alignment))) return p;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

enum class way { unstable, stable, stable_in_place };

template <class V, class Comp>
void sort_by(way how, V& v, Comp comp) {
  if (how == way::stable_in_place) too_much = v.size() * sizeof(v[0]);
  struct restores {
    ~restores() { too_much = ~std::size_t{0}; }
  } const at_the_end;
  if (how == way::unstable) {
    nopal::sort(v, comp);
  } else {
    nopal::stable_sort(v, comp);
  }
}

template <class T>
std::vector<T> values(std::size_t n) {
  std::vector<T> result;
  for (const int x : test::numbers<int>(n, n)) {
    if constexpr (std::is_same_v<T, std::string>) {
      result.push_back(std::to_string(x) + " so long that it lies elsewhere");
    } else {
      result.emplace_back(x);
    }
  }
  return result;
}

int of(int x) { return x; }
int of(const test::only_moves& x) { return x.value ? *x.value : -1; }
int of(const std::string& x) { return x.empty() ? -1 : std::stoi(x); }

template <class T>
std::vector<int> sorted_values(const std::vector<T>& v) {
  std::vector<int> result;
  for (const T& x : v) result.push_back(of(x));
  std::ranges::sort(result);
  return result;
}

/// Comparison number `at` throws: all elements must still be there. Returns true if there was such a comparison. A comparison that is made
/// ahead, in the search for a run, may throw without effect if a serial search would not have reached it.
template <class T>
bool keeps_all_elements(way how, std::size_t n, std::size_t at) {
  auto v = values<T>(n);
  const auto before = sorted_values(v);
  std::atomic<std::size_t> calls{0};
  try {
    sort_by(how, v, [&](const T& a, const T& b) {
      const std::size_t call = calls++;
      if (call == at) throw test::thrown{call};
      return of(a) < of(b);
    });
  } catch (const test::thrown& e) {
    EXPECT_EQ(e.where, at);
  }
  EXPECT_EQ(sorted_values(v), before) << "n " << n << ", comparison " << at << ", way " << static_cast<int>(how);
  return calls > at;
}

template <class T>
void keeps_all_elements_whenever_a_comparison_throws() {
  for (const way how : {way::unstable, way::stable, way::stable_in_place}) {
    for (const std::size_t n : {2U, 3U, 4U, 5U, 8U, 17U, 33U, 70U}) {
      std::size_t at = 0;
      while (keeps_all_elements<T>(how, n, at)) ++at;
      EXPECT_GE(at, n - 1);
    }
    for (const std::size_t n : {2048U, 40'000U}) {
      for (const std::size_t at : {n / 2, n - 1, 2 * n, 3 * n + n / 3, 5 * n, 9 * n}) keeps_all_elements<T>(how, n, at);
    }
  }
}

TEST(sort_failures, all_whole_numbers_stay) { keeps_all_elements_whenever_a_comparison_throws<int>(); }
TEST(sort_failures, all_strings_stay) { keeps_all_elements_whenever_a_comparison_throws<std::string>(); }
TEST(sort_failures, all_that_can_only_be_moved_stay) { keeps_all_elements_whenever_a_comparison_throws<test::only_moves>(); }
TEST(sort_failures, all_elements_stay_on_pools) {
  for (const unsigned workers : {1U, 2U, 3U}) {
    nopal::pool pool{{.workers = workers}};
    pool.run([] {
      for (const way how : {way::unstable, way::stable}) {
        for (const std::size_t n : {2048U, 140'000U}) {
          for (const std::size_t at : {n + n / 2, 9 * n}) {
            keeps_all_elements<int>(how, n, at);
            keeps_all_elements<std::string>(how, n, at);
          }
        }
      }
    });
  }
}

// Off a pool, where no default pool can be made. Each in a process of its own.

template <class F>
[[noreturn]] void without_a_default_pool(F f) {
  ::setenv("NOPAL_WORKERS", "no number", 1);  // NOLINT(concurrency-mt-unsafe)
  std::_Exit(f() ? 0 : 1);
}
/// Calls sort(v), which may need the pool. Returns whether all elements are still in the range.
template <class T, class Sort>
bool keeps_all_without_a_pool(std::vector<T> v, Sort sort) {
  const auto before = sorted_values(v);
  try {
    sort(v);
  } catch (const std::invalid_argument&) {
  } catch (const std::bad_alloc&) {  // a pool needs memory, too
  }
  return sorted_values(v) == before;
}

TEST(sort_failures, all_elements_stay_where_there_is_no_default_pool) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_EXIT(without_a_default_pool([] {
                const auto less = [](const auto& a, const auto& b) { return of(a) < of(b); };
                for (const std::size_t n : {1023U, 1024U, 1500U, 2047U, 2048U, 40'000U}) {
                  for (const way how : {way::unstable, way::stable, way::stable_in_place}) {
                    const auto sort = [&](auto& v) { sort_by(how, v, less); };
                    if (!keeps_all_without_a_pool(values<std::string>(n), sort)) return false;
                    if (!keeps_all_without_a_pool(values<test::only_moves>(n), sort)) return false;
                  }
                  const auto merge = [&](auto& v) { nopal::inplace_merge(v, v.begin() + static_cast<std::ptrdiff_t>(n / 2), less); };
                  if (!keeps_all_without_a_pool(values<std::string>(n), merge)) return false;
                }
                return true;
              }),
              testing::ExitedWithCode(0), "");
}
TEST(sort_failures, few_quick_elements_need_no_default_pool) {
  namespace algorithms = nopal::core::algorithms;
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_EXIT(without_a_default_pool([] {
                using less = std::less<>;
                for (const std::size_t n : {1024U, 1500U, 2047U}) {
                  auto unstably = values<std::string>(n);
                  algorithms::quick_sort<std::string*, less>{{}}.sort(unstably.data(), n);
                  auto stably = values<std::string>(n);
                  const algorithms::raw_buffer<std::string> room{n};
                  algorithms::merge_sort<std::string*, less>{{}}.sort(stably.data(), room.data(), n, false);
                  auto in_place = values<std::string>(n);
                  algorithms::merge_sort_in_place<std::string*, less>{{}}.sort(in_place.data(), n);
                  if (!std::ranges::is_sorted(unstably) || stably != unstably || in_place != unstably) return false;
                }
                return true;
              }),
              testing::ExitedWithCode(0), "");
}

TEST(sort_failures, without_memory_it_sorts_in_place) {
  nopal::default_pool();  // which is made while there is memory
  test::everywhere([] {
    for (const std::size_t n : {64U, 1000U, 50'000U}) {
      for (const bool numbers : {true, false}) {
        refused = 0;
        if (numbers) {
          auto v = test::numbers<int>(n);
          auto w = v;
          auto expected = v;
          std::ranges::sort(expected);
          too_much = n * sizeof(int);
          nopal::sort(v);
          nopal::stable_sort(w);
          too_much = ~std::size_t{0};
          EXPECT_TRUE(v == expected);
          EXPECT_TRUE(w == expected);
        } else {
          std::vector<std::pair<std::string, int>> v;
          for (const int x : test::numbers<int>(n, 100)) v.emplace_back(std::to_string(x), static_cast<int>(v.size()));
          const auto expected = test::stably_sorted(v, [](const auto& a, const auto& b) { return a.first < b.first; });
          too_much = n * sizeof(v[0]);
          nopal::stable_sort(v, {}, &std::pair<std::string, int>::first);
          too_much = ~std::size_t{0};
          EXPECT_TRUE(v == expected);
        }
        if (!numbers || n >= 1024) {  // fewer numbers are not sorted by their digits
          EXPECT_GT(refused.load(), 0);
        }
      }
    }
  });
}

/// Its moves throw while a switch is set: no memory can help.
struct moves_throw {
  explicit moves_throw(int v) : value{v} {}
  moves_throw(moves_throw&& other) noexcept(false) : value{other.value} { maybe(); }
  moves_throw& operator=(moves_throw&& other) noexcept(false) {
    maybe();
    value = other.value;
    return *this;
  }
  static void maybe() {
    if (moves++ == throws_at) throw test::thrown{throws_at};
  }
  int value;
  static inline std::size_t moves = 0;
  static inline std::size_t throws_at = ~std::size_t{0};
};

TEST(sort_failures, moves_may_throw) {
  for (std::size_t at = 0; at < 1500; at += 7) {
    std::vector<moves_throw> v;
    v.reserve(500);
    moves_throw::throws_at = ~std::size_t{0};
    for (const int x : test::numbers<int>(500, 100)) v.emplace_back(x);
    moves_throw::moves = 0;
    moves_throw::throws_at = at;
    EXPECT_THROW(at % 2 == 0 ? nopal::sort(v, {}, &moves_throw::value) : nopal::stable_sort(v, {}, &moves_throw::value), test::thrown);
  }
  std::vector<moves_throw> v;
  v.reserve(500);
  moves_throw::throws_at = ~std::size_t{0};
  for (const int x : test::numbers<int>(500, 100)) v.emplace_back(x);
  nopal::stable_sort(v, {}, &moves_throw::value);
  EXPECT_TRUE(std::ranges::is_sorted(v, {}, &moves_throw::value));
}

/// Counts itself: after a failure there must be as many as before, none of them destroyed twice.
struct counted {
  explicit counted(int v) : value{v} { ++alive; }
  counted(counted&& other) noexcept : value{other.value} { ++alive; }
  counted& operator=(counted&&) noexcept = default;
  ~counted() { --alive; }
  int value;
  static inline std::atomic<int> alive{0};
};

TEST(sort_failures, no_object_is_made_or_destroyed_too_often) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    for (const std::size_t at : {0U, 1000U, 20'000U, 300'000U, 700'000U, 1'000'000'000U}) {
      {
        std::vector<counted> v;
        for (const int x : test::numbers<int>(50'000)) v.emplace_back(x);
        std::atomic<std::size_t> calls{0};
        try {
          nopal::stable_sort(v, [&](const counted& a, const counted& b) {
            if (calls++ == at) throw test::thrown{at};
            return a.value < b.value;
          });
          EXPECT_GT(at, 50'000U);
        } catch (const test::thrown&) {
        }
        EXPECT_EQ(counted::alive.load(), 50'000);
      }
      EXPECT_EQ(counted::alive.load(), 0);
    }
  });
}

}  // namespace
