// The deque on one thread: its buffer grows, and is used again from the beginning.

#include <gtest/gtest.h>

#include "scripted_deque.hpp"

namespace {

using test::deque_test;

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
