#include "nopal/core/sleep/inbox.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using nopal::core::inbox;
using nopal::core::resumable;

std::vector<resumable*> all(resumable* first) {
  std::vector<resumable*> jobs;
  for (; first != nullptr; first = first->next) jobs.push_back(first);
  return jobs;
}

TEST(inbox, is_empty_at_first) {
  inbox box;
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.take_all(), nullptr);
}

TEST(inbox, gives_everything_at_once_and_the_oldest_first) {
  inbox box;
  resumable a, b, c;
  for (resumable* j : {&a, &b, &c}) box.push(j);
  EXPECT_FALSE(box.empty());
  EXPECT_EQ(all(box.take_all()), (std::vector{&a, &b, &c}));
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.take_all(), nullptr);
}

TEST(inbox, takes_jobs_again_in_a_new_order) {
  inbox box;
  resumable a, b;
  box.push(&a);
  box.push(&b);
  box.take_all();
  box.push(&b);
  box.push(&a);
  EXPECT_EQ(all(box.take_all()), (std::vector{&b, &a}));
}

}  // namespace
