#include "nopal/core/task/arena.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "allocation_switch.hpp"

namespace {

using nopal::core::arena;
using nopal::core::central_stacklet_list;
using nopal::core::stacklet;
using test::blocks_made;
using test::memory_is_out;

constexpr std::size_t first = arena::first_size;

struct arena_test : testing::Test {
  arena_test() {
    a.use(depot);
    blocks_made = 0;
  }
  ~arena_test() override {
    memory_is_out = false;
    while (!a.empty()) release(a.segment()->begin());  // everything of the topmost segment at once
  }

  /// Allocates as a fork does, and writes every byte.
  static void* allocate(arena& from, std::size_t n) {
    void* p = nullptr;
    if (from.top() == nullptr || !from.bump(n, p)) p = from.grow(n);
    std::memset(p, 0xa5, n);
    return p;
  }
  void* allocate(std::size_t n) { return allocate(a, n); }
  static void release(arena& from, void* p) {
    from.release(p);
    from.tidy();
  }
  void release(void* p) { release(a, p); }
  /// Allocates until `segments` are in use; returns the newest allocation last.
  std::vector<void*> fill(int segments) {
    std::vector<void*> all;
    for (int n = 0; n < segments;) {
      stacklet const* const before = a.segment();
      all.push_back(allocate(1024));
      n += a.segment() != before;
    }
    return all;
  }

  central_stacklet_list depot;
  arena a;
};

TEST_F(arena_test, an_empty_arena_owns_nothing) {
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.segment(), nullptr);
  EXPECT_EQ(a.detach(), nullptr);
  EXPECT_EQ(a.tidy(), arena::keep);
  EXPECT_EQ(blocks_made, 0);
}

TEST_F(arena_test, allocations_are_aligned_and_adjacent) {
  auto* last = static_cast<std::byte*>(allocate(16));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(last) % 16, 0u);
  for (std::size_t n = 16; n <= 256; n += 16) {
    auto* const p = static_cast<std::byte*>(allocate(n));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 16, 0u);
    EXPECT_EQ(p - last, n == 16 ? 16 : static_cast<std::ptrdiff_t>(n) - 16);
    last = p;
  }
}

TEST_F(arena_test, every_segment_is_twice_as_large_as_the_one_below) {
  std::size_t size = first;
  for (int i = 0; i < 5; ++i, size *= 2) {
    fill(1);
    EXPECT_EQ(a.segment()->size, size);
  }
}

TEST_F(arena_test, the_newest_is_released_first_and_its_place_is_used_again) {
  auto const all = fill(4);
  for (std::size_t i = all.size(); i-- > 0;) {
    release(all[i]);
    if (i != 0 && i % 16 == 0) {
      void* const again = allocate(1024);
      EXPECT_EQ(again, all[i]);
      release(again);
    }
  }
  EXPECT_TRUE(a.empty());
}

TEST_F(arena_test, tidy_leaves_an_empty_segment_but_not_the_first) {
  void* const p = allocate(16);
  stacklet* const bottom = a.segment();
  void* const q = allocate(first);
  a.segment()->alarm = 4711;
  a.release(q);
  EXPECT_NE(a.segment(), bottom);
  EXPECT_EQ(a.tidy(), 4711u);
  EXPECT_EQ(a.segment(), bottom);
  EXPECT_EQ(a.top(), static_cast<std::byte*>(p) + 16);
  a.release(p);
  EXPECT_EQ(a.tidy(), arena::keep);
  EXPECT_EQ(a.segment(), bottom);
}

TEST_F(arena_test, going_to_and_fro_over_the_edge_of_a_segment_takes_no_memory) {
  release(fill(2).back());
  long const before = blocks_made;
  for (int i = 0; i < 100; ++i) release(allocate(2048));
  EXPECT_EQ(blocks_made, before);
  EXPECT_EQ(a.segment()->size, first);
}

TEST_F(arena_test, filling_it_again_and_again_takes_no_more_memory) {
  long settled = 0;
  for (int i = 0; i < 10; ++i) {
    std::vector<void*> all;
    for (int k = 0; k < 900; ++k) all.push_back(allocate(1024));
    for (; !all.empty(); all.pop_back()) release(all.back());
    if (i == 3) settled = blocks_made;
  }
  EXPECT_EQ(blocks_made, settled);
}

TEST_F(arena_test, no_size_is_left_out_after_several_segments_were_left) {
  std::vector<void*> all = fill(6);
  while (a.segment()->size > 2 * first) {
    release(all.back());
    all.pop_back();
  }
  for (int n = 0; n < 4;) {
    stacklet const* const before = a.segment();
    all.push_back(allocate(1024));
    if (a.segment() == before) continue;
    EXPECT_EQ(a.segment()->size, 2 * before->size);
    ++n;
  }
}

TEST_F(arena_test, a_request_larger_than_the_next_segment_gets_one_large_enough) {
  allocate(16);
  std::size_t const large = 100 * first;
  void* const p = allocate(large);
  EXPECT_GE(a.segment()->size, large + sizeof(stacklet));
  EXPECT_LE(static_cast<std::byte*>(p) + large, a.segment()->end());
  release(p);
  EXPECT_EQ(a.segment()->size, first);
}

TEST_F(arena_test, a_first_segment_that_is_too_small_is_not_left_under_the_next) {
  release(allocate(16));
  void* const p = allocate(10 * first);
  EXPECT_EQ(a.segment()->below, nullptr);
  release(p);
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.segment(), nullptr);
}

TEST_F(arena_test, keeps_twice_the_topmost_segment_at_most) {
  void* const p = allocate(16);
  release(allocate(first));  // 2 * first
  EXPECT_EQ(depot.counts().used, first + 2 * first);
  release(allocate(5 * first));  // 8 * first, while the smaller one is still kept
  EXPECT_EQ(depot.counts().used, first + 2 * first);
  void* const q = allocate(3 * first);  // 4 * first
  release(allocate(4 * first));
  EXPECT_EQ(a.spare(), 8 * first);
  stacklet* const gone = a.detach();  // nothing is left that could grow to so much
  EXPECT_EQ(a.spare(), 0u);
  a.attach(gone);
  release(q);
  release(p);
  EXPECT_EQ(a.detach(), nullptr);
  EXPECT_LE(depot.counts().used, 3 * first);
}

TEST_F(arena_test, another_arena_goes_on_with_what_was_detached) {
  auto all = fill(3);
  std::byte* const top = a.top();
  a.epoch = 7;
  stacklet* const gone = a.detach();
  ASSERT_NE(gone, nullptr);
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.segment(), nullptr);

  arena b;
  b.use(depot);
  release(b, allocate(b, 64));
  b.attach(gone);
  EXPECT_EQ(b.top(), top);
  EXPECT_EQ(b.epoch, 7u);
  void* const p = allocate(b, 64);
  EXPECT_EQ(p, top);
  release(b, p);
  for (; !all.empty(); all.pop_back()) release(b, all.back());
  EXPECT_TRUE(b.empty());
}

TEST_F(arena_test, detach_and_attach_may_alternate_at_every_depth) {
  std::vector<void*> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(allocate(1024));
    a.attach(a.detach());
  }
  for (; !all.empty(); all.pop_back()) {
    release(all.back());
    a.attach(a.detach());
    EXPECT_EQ(a.empty(), all.size() == 1);
  }
}

TEST_F(arena_test, an_arena_without_allocations_detaches_nothing_and_keeps_its_segment) {
  release(allocate(64));
  long const before = blocks_made;
  EXPECT_EQ(a.detach(), nullptr);
  release(allocate(64));
  EXPECT_EQ(blocks_made, before);
}

TEST_F(arena_test, a_segment_emptied_just_before_detach_does_not_travel) {
  void* const p = allocate(64);
  stacklet* const bottom = a.segment();
  a.release(allocate(first));
  EXPECT_EQ(a.detach(), bottom);
  a.attach(bottom);
  release(p);
}

TEST_F(arena_test, its_segments_serve_other_arenas_of_the_depot) {
  {
    arena b;
    b.use(depot);
    release(b, allocate(b, 64));
  }
  long const before = blocks_made;
  allocate(64);
  EXPECT_EQ(blocks_made, before);
}

// As tasks that end in another pool than they began in bring them there.
TEST_F(arena_test, segments_of_another_depot_leave_no_trace_in_its_numbers) {
  central_stacklet_list other;
  constexpr std::size_t times = 100;
  for (std::size_t k = 0; k < times; ++k) other.put(depot.get(first));
  EXPECT_EQ(other.counts().used, 0u);
  EXPECT_EQ(other.counts().used_peak, 0u);
  EXPECT_EQ(other.counts().free, 0u);
  stacklet* const large = other.get(2 * first);
  EXPECT_EQ(other.counts().used, 2 * first);
  EXPECT_EQ(other.counts().used_peak, 2 * first);
  EXPECT_EQ(depot.counts().used, 0u);
  EXPECT_EQ(depot.counts().used_peak, first);
  EXPECT_EQ(depot.counts().free, 0u);
  depot.put(large);
  EXPECT_EQ(other.counts().used, 0u);
  EXPECT_EQ(depot.counts().free, 0u);
}

TEST_F(arena_test, segments_that_went_to_another_depot_serve_both) {
  central_stacklet_list other;
  constexpr std::size_t at_once = 100;  // more than keep their pages
  for (int round = 0; round < 10; ++round) {
    for (auto const& [from, to] : {std::pair{&depot, &other}, std::pair{&other, &depot}}) {
      std::vector<stacklet*> all;
      for (std::size_t k = 0; k < at_once; ++k) {
        all.push_back(from->get(2 * first));
        std::memset(all.back()->begin(), 0xa5, 2 * first - sizeof(stacklet));
      }
      EXPECT_EQ(from->counts().used, at_once * 2 * first);
      for (stacklet* const s : all) to->put(s);
    }
  }
  EXPECT_LE(blocks_made, static_cast<long>(at_once));
}

TEST_F(arena_test, a_depot_may_end_before_its_segments) {
  std::vector<stacklet*> gone;
  for (std::size_t const n : {first, first, 4 * first}) {
    central_stacklet_list ends;
    gone.push_back(ends.get(n));
    ends.put(ends.get(n));
  }
  for (stacklet* const s : gone) depot.put(s);
  stacklet* const again = depot.get(4 * first);
  EXPECT_EQ(depot.counts().used, 4 * first);
  depot.put(again);
  EXPECT_EQ(depot.counts().free, 4 * first);
}

TEST_F(arena_test, out_of_memory_throws_and_leaves_it_usable) {
#ifdef TEST_KEEPS_OPERATOR_NEW
  GTEST_SKIP() << "operator new cannot be replaced here";
#endif
  memory_is_out = true;
  EXPECT_THROW(allocate(16), std::bad_alloc);
  EXPECT_TRUE(a.empty());
  memory_is_out = false;

  void* const p = allocate(16);
  std::byte* const top = a.top();
  stacklet* const segment = a.segment();
  memory_is_out = true;
  EXPECT_THROW(allocate(first), std::bad_alloc);
  EXPECT_EQ(a.top(), top);
  EXPECT_EQ(a.segment(), segment);
  release(allocate(16));  // there is still room
  memory_is_out = false;

  release(allocate(first));
  release(p);
  EXPECT_TRUE(a.empty());
}

TEST_F(arena_test, an_absurd_request_throws) {
  allocate(16);
  std::byte* const top = a.top();
  EXPECT_THROW(a.grow(arena::max_request + 16), std::bad_alloc);
  EXPECT_THROW(a.grow(~std::size_t{15}), std::bad_alloc);
  EXPECT_EQ(a.top(), top);
}

}  // namespace
