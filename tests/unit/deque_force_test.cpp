// The deque on one thread: thieves that find nothing public make a request, and then take by force; an owner with a request polls.

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "scripted_deque.hpp"

namespace {

using test::deque_test;
using test::scripted_sync;

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
  work.request();
  EXPECT_TRUE(work.was_requested());
  EXPECT_EQ(work.limit(), low);
  work.publish();
  EXPECT_FALSE(work.was_requested());
  EXPECT_FALSE(work.must_poll());
}

}  // namespace
