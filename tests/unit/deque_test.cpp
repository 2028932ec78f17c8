// The deque on one thread: what the owner and thieves get, and in which order.

#include <gtest/gtest.h>

#include "scripted_deque.hpp"

namespace {

using test::deque_test;

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

TEST_F(deque_test, what_is_private_is_not_taken_by_who_does_not_wait) {
  push({1, 2, 3});
  EXPECT_EQ(work.steal(nullptr, false), 0u);
  work.publish();
  EXPECT_EQ(work.steal(nullptr, false), 1u);
  EXPECT_EQ(work.steal(nullptr, false), 2u);
  EXPECT_EQ(work.steal(nullptr, false), 0u);
  EXPECT_EQ(work.forces(), 0u);
  EXPECT_TRUE(work.was_requested());
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

}  // namespace
