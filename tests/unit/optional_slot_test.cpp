// A std::optional<T> as a slot: it has the result after the join, and no value if the task failed.
// Needs the companion simulation.
#include <gtest/gtest.h>

#include <memory>
#include <nopal/nopal.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace {

template <class T>
nopal::task<T> give(T value) {
  co_return std::move(value);
}
template <class T>
nopal::task<T> fail(T value, bool really) {
  if (really) throw std::runtime_error{"failed"};
  co_return std::move(value);
}
// Can be copied and moved a limited number of times.
struct fragile {
  mutable int left;
  explicit fragile(int n) : left{n} {}
  fragile(fragile const& o) : left{o.left - 1} { check(); }
  fragile(fragile&& o) : left{o.left - 1} { check(); }
  void check() const {
    if (left < 0) throw std::runtime_error{"worn out"};
  }
};
nopal::task<long> take(fragile f) { co_return f.left; }

nopal::task<> results() {
  std::optional<long> word;
  std::optional<std::string> text = "before";
  std::optional<std::unique_ptr<int>> owner;
  co_await nopal::fork(&word, give<long>, 7L);
  co_await nopal::fork(&text, give<std::string>, std::string{"a string that is too long for the small ones"});
  co_await nopal::call(&owner, give<std::unique_ptr<int>>, std::make_unique<int>(3));
  co_await nopal::join;
  EXPECT_EQ(word, 7);
  EXPECT_EQ(text, "a string that is too long for the small ones");
  EXPECT_TRUE(owner && *owner && **owner == 3);
}

template <class T>
nopal::task<> nothing_after_failure(T value) {
  std::optional<T> first = value;
  std::optional<T> second = value;
  bool caught = false;
  co_await nopal::fork(&first, give<T>, value);
  co_await nopal::fork(&second, fail<T>, value, true);
  try {
    co_await nopal::join;
  } catch (std::runtime_error const&) {
    caught = true;
  }
  EXPECT_TRUE(caught);
  EXPECT_EQ(first, value);
  EXPECT_EQ(second, std::nullopt);
}

// A failure before the task has begun leaves the optional unchanged, or empty; never with an invalid value.
nopal::task<> no_result_where_it_did_not_start() {
  bool has_started = false;
  for (int copies = 0; !has_started; ++copies) {
    fragile const argument{copies};
    std::optional<long> forked = -1;
    std::optional<long> called = -1;
    try {
      co_await nopal::fork(&forked, take, argument);
      co_await nopal::join;
      has_started = forked >= 0;
      EXPECT_TRUE(has_started);
    } catch (std::runtime_error const&) {
      EXPECT_EQ(forked.value_or(-1), -1);
    }
    try {
      co_await nopal::call(&called, take, argument);
      EXPECT_GE(called, 0);
    } catch (std::runtime_error const&) {
      EXPECT_EQ(called.value_or(-1), -1);
    }
  }
}

TEST(optional_slot, holds_what_the_task_returns_or_nothing) {
  for (auto const how : {nopal::schedule::free, nopal::schedule::steal_always, nopal::schedule::steal_never}) {
    nopal::pool pool{{.workers = 2, .schedule = how}};
    pool.run(results);
    pool.run(nothing_after_failure<long>, 1L);
    pool.run(nothing_after_failure<char>, 'c');
    pool.run(nothing_after_failure<std::string>, std::string{"text"});
    pool.run(no_result_where_it_did_not_start);
  }
}

// A task whose own result is an optional has it as its plain slot.
TEST(optional_slot, is_not_taken_for_one_where_it_is_the_result) {
  nopal::pool pool{{.workers = 2}};
  pool.run([]() -> nopal::task<> {
    std::optional<int> plain;
    std::optional<std::optional<int>> outer;
    co_await nopal::fork(&plain, give<std::optional<int>>, std::optional<int>{4});
    co_await nopal::call(&outer, give<std::optional<int>>, std::optional<int>{5});
    co_await nopal::join;
    EXPECT_EQ(plain, 4);
    EXPECT_TRUE(outer && *outer == 5);
  });
}

}  // namespace
