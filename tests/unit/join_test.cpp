// The join word, one event after the other in every order.

#include "nopal/core/deque/join_word.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using nopal::core::join_word;

TEST(join, only_the_last_of_all_events_completes_the_scope) {
  for (int children = 1; children <= 4; ++children) {
    for (int before = 0; before <= children; ++before) {  // children alike: an order is the place of the parent among them
      SCOPED_TRACE(testing::Message() << children << " children, " << before << " of them before the parent");
      join_word word;
      for (int i = 0; i < before; ++i) EXPECT_FALSE(word.arrive());
      EXPECT_EQ(word.announce(children), before == children);
      for (int i = before + 1; i <= children; ++i) EXPECT_EQ(word.arrive(), i == children);
    }
  }
}

TEST(join, a_reset_word_serves_the_next_scope) {
  join_word word;
  for (int scope = 0; scope < 3; ++scope) {
    EXPECT_FALSE(word.arrive());
    EXPECT_FALSE(word.announce(2));
    EXPECT_TRUE(word.arrive());
    EXPECT_FALSE(word.reset());
  }
}

TEST(join, counts_a_million_children) {
  constexpr int children = 1'000'000;
  join_word word;
  for (int i = 0; i < children; ++i) ASSERT_FALSE(word.arrive());
  EXPECT_TRUE(word.announce(children));
}

TEST(join, the_greatest_count_does_not_wrap) {
  join_word word;
  EXPECT_FALSE(word.announce((std::int64_t{1} << 61) - 1));
  EXPECT_FALSE(word.arrive());
}

TEST(join, knows_who_recorded_first_until_reset) {
  join_word word;
  int calls = 0;
  bool before = true;
  auto const note = [&](bool b) {
    ++calls;
    before = b;
  };
  word.record(note);
  EXPECT_FALSE(before);
  word.record(note);
  EXPECT_TRUE(before);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(word.reset());
  EXPECT_FALSE(word.reset());
  word.record(note);
  EXPECT_FALSE(before);
}

TEST(join, a_record_does_not_disturb_the_count) {
  for (int recorders = 0; recorders < 8; ++recorders) {  // a bit for each of the three events
    SCOPED_TRACE(recorders);
    join_word word;
    auto const maybe_record = [&](int event) {
      if ((recorders >> event & 1) != 0) word.record([](bool) {});
    };
    maybe_record(0);
    EXPECT_FALSE(word.arrive());
    maybe_record(1);
    EXPECT_FALSE(word.announce(2));
    maybe_record(2);
    EXPECT_TRUE(word.arrive());
    EXPECT_EQ(word.reset(), recorders != 0);
  }
}

TEST(join, others_may_arrive_during_a_record) {
  join_word word;
  word.record([&](bool) {
    EXPECT_FALSE(word.arrive());
    EXPECT_FALSE(word.announce(2));
  });
  EXPECT_TRUE(word.arrive());
  EXPECT_TRUE(word.reset());
}

}  // namespace
