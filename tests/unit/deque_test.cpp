// The deque on one thread: what a thief or the owner does in the middle of the other's operation is done from a hook.

#include "nopal/core/deque/deque.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <thread>
#include <utility>
#include <vector>

namespace {

using nopal::core::std_sync;

/// A machine whose clock stands still unless told, and which calls a hook wherever a thief waits, fences or has got the lock.
struct scripted_sync : std_sync {
  static inline std::function<void()> while_locked;

  template <class T>
  struct atomic : std::atomic<T> {
    using std::atomic<T>::atomic;
  };
  static inline std::int64_t time = 0;
  static inline std::int64_t tick = 10'000;  // each look at the clock: a thief's patience ends at its second look
  static inline std::function<void()> while_waiting;
  static inline std::function<void()> while_fencing;
  static inline int heavy_fences = 0;

  static void light_fence() noexcept {}
  static void heavy_fence() noexcept {
    ++heavy_fences;
    if (while_fencing) std::exchange(while_fencing, nullptr)();
  }
  static void relax() noexcept {
    if (while_waiting) std::exchange(while_waiting, nullptr)();
  }
  static std::int64_t now() noexcept { return time += tick; }
};

template <>
struct scripted_sync::atomic<bool> : std::atomic<bool> {
  using std::atomic<bool>::atomic;
  bool exchange(bool v, std::memory_order o) noexcept {
    bool const before = std::atomic<bool>::exchange(v, o);
    if (!before && while_locked) std::exchange(while_locked, nullptr)();
    return before;
  }
};

using deque = nopal::core::basic_deque<scripted_sync>;
using entry = deque::entry;
using entries = std::vector<entry>;

struct deque_test : testing::Test {
  deque_test() {
    scripted_sync::time = 0;
    scripted_sync::tick = 10'000;
    scripted_sync::heavy_fences = 0;
    work.set_limit(0);
  }
  ~deque_test() override {
    scripted_sync::while_waiting = nullptr;
    scripted_sync::while_fencing = nullptr;
    scripted_sync::while_locked = nullptr;
  }

  void push(std::initializer_list<entry> all) {
    for (entry const e : all) work.push(e);
  }
  entry steal() {
    return work.steal([](entry) { return true; });
  }
  /// Everything a thief can have.
  entries steal_all() {
    entries all;
    while (entry const e = steal()) all.push_back(e);
    return all;
  }
  bool pop() { return work.pop() || work.pop_slow(); }

  deque work{8};
};

TEST_F(deque_test, is_empty_until_something_is_pushed) {
  EXPECT_TRUE(work.empty());
  EXPECT_TRUE(work.looks_empty());
  EXPECT_EQ(steal(), 0u);
  work.push(1);
  EXPECT_FALSE(work.empty());
  EXPECT_FALSE(work.looks_empty());
}

TEST_F(deque_test, what_nobody_asked_for_is_popped_without_pop_slow) {
  push({1, 2, 3});
  EXPECT_TRUE(work.pop());
  EXPECT_TRUE(work.pop());
  EXPECT_TRUE(work.pop());
  EXPECT_TRUE(work.empty());
}

TEST_F(deque_test, thieves_take_the_oldest_first) {
  push({1, 2, 3});
  work.publish_all();
  EXPECT_EQ(steal_all(), (entries{1, 2, 3}));
  EXPECT_TRUE(work.empty());
  EXPECT_EQ(work.forces(), 0u);
}

TEST_F(deque_test, the_owner_keeps_the_newest_while_thieves_take_the_oldest) {
  push({1, 2, 3, 4});
  work.publish_all();
  EXPECT_EQ(steal(), 1u);
  EXPECT_TRUE(pop());  // 4
  EXPECT_EQ(steal(), 2u);
  EXPECT_TRUE(pop());  // 3
  EXPECT_TRUE(work.empty());
}

TEST_F(deque_test, publish_offers_the_older_half) {
  push({1, 2, 3, 4, 5});
  work.publish();
  EXPECT_TRUE(work.pop());
  EXPECT_TRUE(work.pop());
  EXPECT_FALSE(work.pop());
  work.unpop();
  EXPECT_EQ(steal_all(), (entries{1, 2, 3}));
}

TEST_F(deque_test, publish_offers_the_only_entry) {
  push({1});
  work.publish();
  EXPECT_EQ(steal(), 1u);
  EXPECT_EQ(work.forces(), 0u);
}

TEST_F(deque_test, publish_all_leaves_nothing_that_pop_takes_quickly) {
  push({1, 2});
  work.publish_all();
  EXPECT_FALSE(work.pop());
  work.unpop();
  EXPECT_EQ(steal_all(), (entries{1, 2}));
}

TEST_F(deque_test, pop_slow_takes_back_half_of_what_is_public) {
  push({1, 2, 3, 4, 5, 6});
  work.publish_all();
  EXPECT_FALSE(work.pop());
  EXPECT_TRUE(work.pop_slow());  // 6
  for (int e : {5, 4, 3}) EXPECT_TRUE(work.pop()) << e;
  EXPECT_FALSE(work.pop());
  work.unpop();
  EXPECT_EQ(steal_all(), (entries{1, 2}));
}

TEST_F(deque_test, the_owner_gets_the_last_public_entry) {
  push({1});
  work.publish_all();
  EXPECT_FALSE(work.pop());
  EXPECT_TRUE(work.pop_slow());
  EXPECT_TRUE(work.empty());
  EXPECT_EQ(steal(), 0u);
}

TEST_F(deque_test, pop_slow_says_when_the_entry_was_stolen) {
  push({1, 2});
  work.publish_all();
  EXPECT_EQ(steal_all(), (entries{1, 2}));
  EXPECT_FALSE(work.pop());
  EXPECT_FALSE(work.pop_slow());
  EXPECT_TRUE(work.empty());
  push({3});
  EXPECT_TRUE(work.pop());
}

TEST_F(deque_test, unpop_after_a_theft_leaves_it_empty) {
  push({1});
  work.publish_all();
  EXPECT_EQ(steal(), 1u);
  EXPECT_FALSE(work.pop());
  work.unpop();
  EXPECT_TRUE(work.empty());
  push({2});
  work.publish_all();
  EXPECT_EQ(steal(), 2u);
}

TEST_F(deque_test, a_thief_may_refuse_and_leaves_the_entry) {
  push({1, 2});
  work.publish_all();
  entry seen = 0;
  EXPECT_EQ(work.steal([&](entry e) {
    seen = e;
    return false;
  }),
            0u);
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(steal_all(), (entries{1, 2}));
}

TEST_F(deque_test, asks_when_it_took_the_last_public_entry) {
  push({1, 2, 3});
  work.publish();
  EXPECT_FALSE(work.was_requested());
  EXPECT_EQ(steal(), 1u);
  EXPECT_FALSE(work.was_requested());
  EXPECT_EQ(steal(), 2u);
  EXPECT_TRUE(work.was_requested());
  EXPECT_TRUE(work.must_poll());
}

TEST_F(deque_test, an_answer_in_time_needs_no_force) {
  push({1, 2});
  scripted_sync::tick = 0;
  scripted_sync::while_waiting = [this] {
    EXPECT_TRUE(work.must_poll());
    work.publish();
  };
  EXPECT_EQ(steal(), 1u);
  EXPECT_EQ(scripted_sync::heavy_fences, 0);
}

TEST_F(deque_test, a_thief_leaves_when_the_owner_has_popped_everything_meanwhile) {
  push({1});
  scripted_sync::tick = 0;
  scripted_sync::while_waiting = [this] { EXPECT_TRUE(work.pop()); };
  EXPECT_EQ(steal(), 0u);
  EXPECT_EQ(scripted_sync::heavy_fences, 0);
}

TEST_F(deque_test, a_silent_owner_loses_the_older_half) {
  push({1, 2, 3, 4});
  EXPECT_EQ(steal(), 1u);
  EXPECT_EQ(work.forces(), 1u);
  EXPECT_EQ(work.retreats(), 0u);
  EXPECT_EQ(scripted_sync::heavy_fences, 1);
  EXPECT_TRUE(work.pop());
  EXPECT_TRUE(work.pop());
  EXPECT_FALSE(work.pop());
  EXPECT_TRUE(work.pop_slow());  // 2
  EXPECT_FALSE(work.pop());
  EXPECT_FALSE(work.pop_slow());  // 1
}

TEST_F(deque_test, a_silent_owner_loses_everything_in_the_end) {
  push({1, 2, 3, 4, 5});
  EXPECT_EQ(steal_all(), (entries{1, 2, 3, 4, 5}));
  EXPECT_TRUE(work.empty());
}

TEST_F(deque_test, a_thief_by_force_retreats_to_where_the_owner_has_popped) {
  push({1, 2, 3, 4});
  bool last = true;
  scripted_sync::while_fencing = [&] {
    EXPECT_TRUE(work.pop());  // 4
    EXPECT_TRUE(work.pop());  // 3
    last = work.pop();        // 2: below the tentative split
  };
  EXPECT_EQ(steal(), 1u);
  EXPECT_FALSE(last);
  EXPECT_EQ(work.retreats(), 1u);
  EXPECT_TRUE(work.pop_slow());  // 2 is the owner's after all
  EXPECT_FALSE(work.pop());
  EXPECT_FALSE(work.pop_slow());  // 1
}

TEST_F(deque_test, after_a_force_in_vain_thieves_back_off_for_a_while) {
  push({1});
  bool popped = true;
  scripted_sync::while_fencing = [&] { popped = work.pop(); };
  EXPECT_EQ(steal(), 0u);
  EXPECT_FALSE(popped);
  EXPECT_TRUE(work.pop_slow());
  EXPECT_EQ(work.forces(), 0u);
  EXPECT_EQ(work.retreats(), 1u);

  push({2});
  EXPECT_EQ(steal(), 0u);
  EXPECT_EQ(scripted_sync::heavy_fences, 1) << "it did not back off";
  scripted_sync::time += 100'000;
  EXPECT_EQ(steal(), 2u);
  EXPECT_EQ(scripted_sync::heavy_fences, 2);
}

TEST_F(deque_test, a_success_by_force_ends_the_backing_off) {
  auto const force_in_vain = [this] {
    push({1});
    scripted_sync::while_fencing = [&] { EXPECT_FALSE(work.pop()); };
    EXPECT_EQ(steal(), 0u);
    EXPECT_TRUE(work.pop_slow());
    scripted_sync::time += 100'000;
  };
  force_in_vain();
  push({2});
  EXPECT_EQ(steal(), 2u);
  force_in_vain();  // the first again, not the second: thieves wait no longer than after the first
  push({3});
  EXPECT_EQ(steal(), 3u);
}

TEST_F(deque_test, publish_gives_way_to_a_thief_at_work) {
  push({1, 2});
  scripted_sync::while_fencing = [this] { work.publish(); };
  EXPECT_EQ(steal(), 1u);
  EXPECT_TRUE(work.pop());  // 2 is still private
}

TEST_F(deque_test, without_a_heavy_fence_nothing_private_is_taken) {
  work.hide_nothing();
  push({1});
  EXPECT_EQ(steal(), 0u);
  EXPECT_EQ(scripted_sync::heavy_fences, 0);
  EXPECT_TRUE(work.pop());
}

TEST_F(deque_test, without_a_heavy_fence_every_fork_looks) {
  work.hide_nothing();
  EXPECT_TRUE(work.must_poll());
  push({1});
  work.publish();
  EXPECT_TRUE(work.must_poll());
  work.set_limit(0);
  EXPECT_TRUE(work.must_poll());
  EXPECT_EQ(steal(), 1u);
}

TEST_F(deque_test, without_a_heavy_fence_an_owner_that_has_looked_has_offered_even_while_a_thief_holds_the_lock) {
  work.hide_nothing();
  push({1});
  std::thread owner;
  std::atomic<bool> answered{false};
  scripted_sync::while_locked = [&] {
    scripted_sync::while_waiting = [&] { answered = true; };  // the owner may wait for the lock
    owner = std::thread{[&] {
      work.publish();
      answered = true;
    }};
    while (!answered) std::this_thread::yield();
  };
  entry const at_once = steal();
  if (owner.joinable()) {
    owner.join();
  } else {
    work.publish();
  }
  EXPECT_EQ(at_once + steal(), 1u) << "nobody can have the entry until the owner's next fork";
}

TEST_F(deque_test, must_look_below_the_limit_of_the_native_stack) {
  auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  work.set_limit(here - (1 << 16));
  EXPECT_FALSE(work.must_poll());
  work.set_limit(here + (1 << 16));
  EXPECT_TRUE(work.must_poll());
  EXPECT_FALSE(work.was_requested());
}

TEST_F(deque_test, an_answer_restores_the_limit) {
  auto const low = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - (1 << 16);
  work.set_limit(low);
  work.ask();
  EXPECT_TRUE(work.was_requested());
  EXPECT_EQ(work.limit(), low);
  work.publish();
  EXPECT_FALSE(work.was_requested());
  EXPECT_FALSE(work.must_poll());
}

TEST_F(deque_test, growing_keeps_what_is_in_it_and_who_may_take_it) {
  deque small{2};
  small.set_limit(0);
  small.push(1);
  small.push(2);
  small.publish();
  small.ensure_room(20);
  for (entry e = 3; e <= 22; ++e) small.push(e);
  for (entry e = 22; e >= 2; --e) EXPECT_TRUE(small.pop()) << e;
  EXPECT_FALSE(small.pop());
  small.unpop();
  EXPECT_EQ(small.steal([](entry) { return true; }), 1u);
}

TEST_F(deque_test, growing_after_thefts_keeps_the_rest) {
  deque small{4};
  small.set_limit(0);
  for (entry e = 1; e <= 4; ++e) small.push(e);
  small.publish_all();
  auto const any = [](entry) { return true; };
  EXPECT_EQ(small.steal(any), 1u);
  small.ensure_room(1);
  small.push(5);
  small.publish_all();
  entries rest;
  while (entry const e = small.steal(any)) rest.push_back(e);
  EXPECT_EQ(rest, (entries{2, 3, 4, 5}));
}

TEST_F(deque_test, rewind_makes_room_without_growing) {
  for (entry e = 1; e <= 100; e += 2) {  // 100 pushes in 8 places
    push({e, e + 1});
    work.publish_all();
    EXPECT_EQ(steal_all(), (entries{e, e + 1}));
    work.rewind();
  }
}

TEST_F(deque_test, the_last_entry_taken_back_a_thousand_times_needs_no_more_room) {
  push({1, 2, 3, 4, 5, 6, 7});
  work.publish_all();
  EXPECT_EQ(steal_all().size(), 7u);
  for (entry e = 10; e < 1010; ++e) {  // always at the eighth of 8 places
    push({e});
    work.publish_all();
    ASSERT_FALSE(work.pop());
    ASSERT_TRUE(work.pop_slow());
  }
  push({5000});
  work.publish_all();
  EXPECT_EQ(steal(), 5000u);
}

TEST_F(deque_test, growing_after_a_rewind_keeps_what_is_in_it) {
  push({1, 2, 3});
  work.publish_all();
  EXPECT_EQ(steal_all().size(), 3u);
  work.rewind();
  push({4, 5, 6, 7, 8, 9, 10, 11});
  work.ensure_room(1);
  push({12});
  work.publish_all();
  EXPECT_EQ(steal_all(), (entries{4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST_F(deque_test, rewind_at_the_beginning_changes_nothing) {
  work.rewind();
  push({1});
  EXPECT_TRUE(work.pop());
  work.rewind();
  push({2});
  EXPECT_EQ(steal(), 2u);
}

}  // namespace
