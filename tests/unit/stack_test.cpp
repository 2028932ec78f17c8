// Native stacks: their memory, their guard page, and the pool.

#include "nopal/core/stack/stack_pool.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "../scale.hpp"

namespace {

using nopal::reclaim;
using nopal::core::context;
using nopal::core::leaving;
using nopal::core::stack;
using nopal::core::stack_cache;
using nopal::core::stack_pool;
using nopal::core::switch_to;

constexpr std::size_t size = 256 * 1024;
std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::size_t resident_pages(stack& s) {
  std::vector<unsigned char> pages(s.mapped() / page() - 1);  // but the guard
  if (::mincore(s.low(), s.mapped() - page(), pages.data()) != 0) return ~std::size_t{0};
  std::size_t n = 0;
  for (unsigned char const p : pages) n += p & 1;
  return n;
}
void dirty(stack& s) { std::memset(s.low(), 1, static_cast<std::size_t>(s.top() - s.low())); }

TEST(stack, has_the_size_asked_for_less_its_guard_and_itself) {
  stack_pool pool{size, reclaim::dontneed, 4};
  stack* const s = pool.get();
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->mapped(), size);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(s->base()) % size, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(s->top()) % 64, 0u);
  EXPECT_GT(s->top() - s->low(), static_cast<std::ptrdiff_t>(size - 3 * page()));
  EXPECT_TRUE(s->guards(s->low() - 1));
  EXPECT_TRUE(s->guards(s->base()));
  EXPECT_FALSE(s->guards(s->low()));
  EXPECT_FALSE(s->guards(s->base() - 1));
  pool.put(s);
}

TEST(stack, sizes_are_rounded_up_to_powers_of_two) {
  stack_pool pool{size + 1, reclaim::dontneed, 4};
  stack* const s = pool.get();
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->mapped(), 2 * size);
  pool.put(s);
}

TEST(stack, may_be_used_to_the_last_byte) {
  stack_pool pool{size, reclaim::dontneed, 4};
  stack* const s = pool.get();
  ASSERT_NE(s, nullptr);
  dirty(*s);
  pool.put(s);
}

TEST(stack_death, overflow_meets_the_guard_page) {
  stack_pool pool{size, reclaim::dontneed, 4};
  stack* const s = pool.get();
  ASSERT_NE(s, nullptr);
  EXPECT_DEATH({ *(static_cast<std::byte volatile*>(s->low()) - 1) = std::byte{1}; }, "");
  pool.put(s);
}

TEST(stack, runs_again_and_again) {
  stack_pool pool{size, reclaim::dontneed, 4};
  stack_cache cache{pool};
  static context* outside;
  static int runs;
  runs = 0;
  for (int k = 0; k < 1000; ++k) {
    stack* const s = cache.get();
    ASSERT_NE(s, nullptr);
    s->begin([](context& here) {
      ++runs;
      switch_to(here, *outside, nullptr, leaving::for_good);
    });
    context here;
    outside = &here;
    switch_to(here, *s);
    cache.put(s);
  }
  EXPECT_EQ(runs, 1000);
  EXPECT_EQ(pool.counts().peak, 1u);
}

TEST(stack, neighbours_begin_at_different_cache_sets) {
  stack_pool pool{size, reclaim::dontneed, 16};
  std::vector<stack*> all;
  std::set<std::uintptr_t> places;
  for (int k = 0; k < 16; ++k) {
    all.push_back(pool.get());
    ASSERT_NE(all.back(), nullptr);
    places.insert(reinterpret_cast<std::uintptr_t>(all.back()->top()) % page());
  }
  EXPECT_EQ(places.size(), all.size());
  for (stack* const s : all) pool.put(s);
}

TEST(stack_pool, keeps_as_many_as_it_may_and_unmaps_the_rest) {
  stack_pool pool{size, reclaim::dontneed, 3};
  std::vector<stack*> all;
  for (int k = 0; k < 10; ++k) all.push_back(pool.get());
  EXPECT_EQ(pool.counts().live, 10u);
  for (stack* const s : all) pool.put(s);
  EXPECT_EQ(pool.counts().live, 3u);
  EXPECT_EQ(pool.counts().peak, 10u);
}

TEST(stack_pool, never_counts_more_stacks_than_at_their_peak) {
  stack_pool pool{size, reclaim::dontneed, 0};
  std::atomic<bool> done{false};
  std::thread grows{[&] {
    std::vector<stack*> all;
    for (int k = 0; k < 3000; ++k) all.push_back(pool.get());
    for (stack* const s : all) pool.put(s);
    done = true;
  }};
  std::uint64_t wrong = 0;
  while (!done) {
    auto const now = pool.counts();
    wrong += now.live > now.peak;
  }
  grows.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(pool.counts().peak, 3000u);
}

TEST(stack_pool, caches_pass_their_surplus_on) {
  stack_pool pool{size, reclaim::dontneed, 3 * stack_cache::most};
  {
    stack_cache one{pool};
    std::vector<stack*> all;
    for (std::size_t k = 0; k < 3 * stack_cache::most; ++k) all.push_back(one.get());
    for (stack* const s : all) one.put(s);
    stack_cache two{pool};
    stack* const s = two.get();
    EXPECT_EQ(pool.counts().live, 3 * stack_cache::most);
    two.put(s);
  }
  EXPECT_EQ(pool.counts().live, 3 * stack_cache::most);
}

// The first cache has resumed what the second has left.
TEST(stack_pool, caches_share_what_is_free) {
  stack_pool pool{size, reclaim::dontneed, 100, 2};
  stack_cache resumes{pool, 0}, suspends{pool, 1};
  for (int k = 0; k < 1000; ++k) {
    resumes.put(suspends.get());
    resumes.share();
  }
  EXPECT_LE(pool.counts().live, 4u) << "one that the first cache keeps, and those that the pool has for two workers";
  for (int k = 0; k < 40; ++k) resumes.put(pool.get());
  resumes.share();
  EXPECT_GE(pool.spare(), 20u) << "half of them, since the pool has grown";
  std::size_t const free = pool.spare();
  resumes.share();
  EXPECT_EQ(pool.spare(), free) << "nobody has needed a stack since";
}

TEST(stack_pool, tells_how_many_pages_its_stacks_hold) {
  stack_pool pool{size, reclaim::none, 3};
  stack* const a = pool.get();
  stack* const b = pool.get();
  std::uint64_t const before = pool.resident_pages();  // those of the two objects
  EXPECT_GE(before, 2u);
  EXPECT_LE(before, 4u);
  for (std::size_t k = 0; k < 5; ++k) *(a->low() + k * page()) = std::byte{1};
  EXPECT_EQ(pool.resident_pages(), before + 5);
  pool.put(a);
  pool.put(b);
}

TEST(stack_pool, counts_the_pages_that_a_waiting_stack_holds) {
  stack_pool pool{size, reclaim::dontneed, 4};
  stack* const s = pool.get();
  std::byte* const sp = s->top() - 200;
  *sp = std::byte{1};
  pool.give_back_below(*s, sp);
  EXPECT_LE(pool.most_pages_held(0), 2u) << "not those that it may keep";
  std::byte* const third = s->base() + s->mapped() - 3 * page();
  std::memset(third, 1, static_cast<std::size_t>(s->top() - third));
  pool.give_back_below(*s, sp);
  EXPECT_EQ(pool.counts().unmaps, 0u);
  EXPECT_EQ(pool.most_pages_held(0), 3u);
  pool.put(s);
}

TEST(stack_pool, keeps_as_many_pages_at_a_join_as_it_is_told) {
  for (std::size_t const kept : {std::size_t{0}, std::size_t{3}, std::size_t{20}, std::size_t{1000}}) {
    stack_pool pool{size, reclaim::dontneed, 4, 1, nullptr, kept};
    stack* const s = pool.get();
    dirty(*s);
    std::byte* const sp = s->top() - 200;
    pool.give_back_below(*s, sp);
    std::size_t const all = size / page() - 1;
    std::size_t const in_use = 2;
    EXPECT_LE(resident_pages(*s), std::min(all, std::max(in_use, kept)));
    EXPECT_GE(resident_pages(*s), std::min(all, std::max(std::size_t{1}, kept)));
    EXPECT_EQ(pool.counts().pages_returned, all - resident_pages(*s));
    EXPECT_EQ(pool.counts().unmaps, kept < all ? 1u : 0u);
    EXPECT_EQ(pool.most_pages_held(0), all);
    pool.put(s);
  }
}

// A frame may skip pages, with an array that it does not use, and the high-water mark too. The kernel is mostly asked about pages near the
// top, and where the mark stands about none.
TEST(stack_pool, finds_pages_far_below_when_it_has_looked_some_times) {
  for (bool const marked : {false, true}) {
    stack_pool pool{std::size_t{1} << 20, reclaim::dontneed, 4};
    stack* const s = pool.get();
    if (marked) s->set_high_water_mark();
    std::byte* const sp = s->top() - 200;
    std::byte* const far = s->low() + page();
    for (int k = 0; k < 3; ++k) {
      *far = std::byte{1};
      for (int look = 0; look < 16; ++look) pool.give_back_below(*s, sp);
      EXPECT_LE(resident_pages(*s), 2u) << k;
    }
    EXPECT_EQ(pool.counts().pages_returned, 3u);
    pool.put(s);
  }
}

// A free stack is looked at near its top first, since most were used only there. What is far below is found later.
TEST(stack_pool, finds_pages_far_below_in_a_free_stack_in_the_end) {
  stack_pool pool{std::size_t{1} << 20, reclaim::dontneed, 4};
  stack* const s = pool.get();
  *(s->low() + page()) = std::byte{1};
  pool.put(s);
  EXPECT_EQ(pool.counts().pages_returned, 0u);
  for (int k = 0; k < 128; ++k) {
    ASSERT_EQ(pool.get(), s);
    pool.put(s);
  }
  EXPECT_EQ(pool.counts().pages_returned, 1u);
  EXPECT_LE(resident_pages(*s), 2u);
}

// The newest free stack of a worker is taken next, so it keeps some pages; the others keep two. What went deeper is noticed later.
TEST(stack_pool, caches_keep_some_pages_of_the_stack_that_was_left_last) {
  std::size_t const large = 64 * page();
  stack_pool pool{large, reclaim::dontneed, 4};
  stack_cache cache{pool};
  stack* const a = pool.get();
  stack* const b = pool.get();
  auto const use = [](stack& s, std::size_t pages) {
    std::byte* const from = s.base() + s.mapped() - pages * page();
    std::memset(from, 1, static_cast<std::size_t>(s.top() - from));
  };
  dirty(*a);
  cache.put_left(*a);
  EXPECT_EQ(resident_pages(*a), nopal::core::tuning::pages_kept_by_newest);
  EXPECT_EQ(pool.counts().purges, 1u);
  for (int k = 0; k < 100; ++k) {
    ASSERT_EQ(cache.get(), a);
    use(*a, 5);
    cache.put_left(*a);
  }
  EXPECT_EQ(pool.counts().purges, 1u) << "siblings in a row use the same pages";
  dirty(*b);
  cache.put_left(*b);
  EXPECT_LE(resident_pages(*a), 2u);
  EXPECT_EQ(resident_pages(*b), nopal::core::tuning::pages_kept_by_newest);
  std::uint64_t const purges = pool.counts().purges;
  ASSERT_EQ(cache.get(), b);
  *b->low() = std::byte{1};  // as by a frame with an array that it does not use
  cache.put_left(*b);
  for (int k = 0; k < 16; ++k) {
    ASSERT_EQ(cache.get(), b);
    cache.put_left(*b);
  }
  EXPECT_EQ(resident_pages(*b), nopal::core::tuning::pages_kept_by_newest) << "it is looked at each 16th time";
  EXPECT_EQ(pool.counts().purges, purges + 1);
  cache.put(pool.get());
  stack* const c = pool.get();
  dirty(*c);
  cache.put_left(*c);
  EXPECT_LE(resident_pages(*b), 2u) << "also below one that was put in another way";
  EXPECT_EQ(resident_pages(*c), nopal::core::tuning::pages_kept_by_newest);
  c->set_high_water_mark();
  cache.give_back();
  EXPECT_LE(resident_pages(*c), 2u) << "it is known to hold more than the mark says";
  EXPECT_LE(pool.most_pages_held(0), 3 * (large / page() - 1));
  EXPECT_GE(pool.most_pages_held(0), large / page() - 1);
}

class reclaiming : public testing::TestWithParam<reclaim> {};

TEST_P(reclaiming, gives_back_what_lies_below_and_keeps_what_lies_above) {
  stack_pool pool{size, GetParam(), 4};
  stack* const s = pool.get();
  ASSERT_NE(s, nullptr);
  dirty(*s);
  std::byte* const sp = s->top() - 5 * page() - 100;
  pool.give_back_below(*s, sp);
  for (std::byte const* p = sp; p < s->top(); ++p) ASSERT_EQ(*p, std::byte{1});
  if (GetParam() == reclaim::none) {
    EXPECT_EQ(pool.counts().unmaps, 0u);
    EXPECT_EQ(*s->low(), std::byte{1});
  } else {
    EXPECT_EQ(pool.counts().unmaps, 1u);
    EXPECT_GE(pool.counts().pages_returned, size / page() - 9);
    if (GetParam() != reclaim::free) {  // which gives pages back only when memory is short
      EXPECT_LE(resident_pages(*s), 8u);
      EXPECT_EQ(*s->low(), std::byte{0});
    }
  }
  *s->low() = std::byte{2};  // still a stack
  pool.put(s);
}

TEST_P(reclaiming, a_stack_that_comes_back_keeps_no_page_but_its_top) {
  stack_pool pool{size, GetParam(), 4};
  stack* const s = pool.get();
  ASSERT_NE(s, nullptr);
  dirty(*s);
  pool.put(s);
  stack* const again = pool.get();
  ASSERT_EQ(again, s);
  if (GetParam() == reclaim::dontneed || GetParam() == reclaim::remap) {
    EXPECT_LE(resident_pages(*again), 2u);
  }
  dirty(*again);
  pool.put(again);
}

TEST_P(reclaiming, nothing_dirty_means_nothing_to_give_back) {
  stack_pool pool{size, GetParam(), 4};
  stack* const s = pool.get();
  ASSERT_NE(s, nullptr);
  pool.give_back_below(*s, s->top() - 100);
  EXPECT_EQ(pool.counts().unmaps, 0u);
  pool.put(s);
}

TEST_P(reclaiming, learns_from_the_marks_what_the_stacks_held_at_their_most) {
  stack_pool pool{size, GetParam(), 4};
  stack* const a = pool.get();
  stack* const b = pool.get();
  ASSERT_NE(b, nullptr);
  dirty(*a);
  pool.give_back_below(*a, a->top() - 5 * page() - 100);
  dirty(*b);
  pool.put(b);
  pool.put(a);
  std::uint64_t const whole = size / page() - 1;  // but for the guard page
  if (GetParam() == reclaim::none) {
    EXPECT_EQ(pool.most_pages_held(1), 0u);
    EXPECT_EQ(pool.counts().purges, 0u);
  } else {
    EXPECT_GE(pool.most_pages_held(0), whole + 6) << "b wholly, beside what a kept above its stack pointer";
    EXPECT_LE(pool.most_pages_held(0), whole + 9);
    EXPECT_EQ(pool.most_pages_held(3) - pool.most_pages_held(0), 3 * (pool.most_pages_held(1) - pool.most_pages_held(0)));
    EXPECT_GE(pool.most_pages_held(1) - pool.most_pages_held(0), whole - 3);
    EXPECT_LE(pool.counts().purges, 2u);
    EXPECT_GE(pool.counts().purges, 1u);
    EXPECT_GE(pool.counts().unmaps, pool.counts().purges + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(all, reclaiming, testing::Values(reclaim::dontneed, reclaim::free, reclaim::remap, reclaim::none),
                         [](auto const& one) {
                           switch (one.param) {
                             case reclaim::dontneed: return "dontneed";
                             case reclaim::free: return "free";
                             case reclaim::remap: return "remap";
                             case reclaim::none: break;
                           }
                           return "none";
                         });

#ifndef NOPAL_TEST_SANITIZED  // its shadow memory does not fit under a limit

TEST(stack_pool, without_address_space_there_is_none_and_later_there_is) {
  stack_pool pool{std::size_t{1} << 30, reclaim::dontneed, 0};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit low = before;
  low.rlim_cur = std::size_t{4} << 30;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &low), 0);
  std::vector<stack*> all;
  while (stack* const s = pool.get()) {
    all.push_back(s);
    if (all.size() == 10) break;
  }
  std::size_t const had = all.size();
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(pool.counts().live, had);
  stack* const s = pool.get();
  EXPECT_NE(s, nullptr);
  if (s != nullptr) all.push_back(s);
  for (stack* const one : all) pool.put(one);
  EXPECT_EQ(pool.counts().live, 0u);
  if (had == 10) GTEST_SKIP() << "nothing enforces the limit on address space here (qemu-user does not)";
  EXPECT_LT(had, 4u);
}

#endif

}  // namespace
