// Results of every kind, by every way to start a function and wait for it.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../callable_parts.hpp"
#include "../given_arguments.hpp"
#include "nopal/nopal.hpp"

namespace {

using nopal::task;
using test::given::color;
using test::given::ground;
using test::given::lasting;
using test::given::moving;
using test::given::of_color;

struct without_default {
  explicit without_default(long n) : value{n} {}
  long value;
};
struct unassignable {
  long const value;
};
using aligned = callables::block<64, 64>;
using large = callables::block<5000>;
long kept = 5;

auto const unique = [] { return std::make_unique<long>(3); };

TEST(arguments, results_of_every_kind) {
  auto const each = [](auto start) {
    start([] {});
    EXPECT_EQ(*start(unique), 3);
    EXPECT_EQ(start([] { return without_default{3}; }).value, 3);
    EXPECT_EQ(start([] { return unassignable{3}; }).value, 3);
    EXPECT_TRUE(start([] { return aligned{}; }).whole());
    EXPECT_TRUE(start([] { return large{}; }).whole());
    EXPECT_EQ(&start([]() -> long& { return kept; }), &kept);
    EXPECT_EQ(&start([]() -> long const& { return kept; }), &kept);
    EXPECT_EQ(start([]() -> long&& { return std::move(kept); }), kept);
    EXPECT_EQ(start([]() -> std::string const { return "x"; }), "x");
    EXPECT_EQ(start([]() -> long (&)(color) { return of_color; })(color::red), 7);
    EXPECT_EQ(*start([]() -> task<std::unique_ptr<long>> {
      co_await moving();
      co_return std::make_unique<long>(3);
    }),
              3);
    EXPECT_EQ(start([]() -> task<without_default> {
                co_await moving();
                co_return without_default{3};
              }).value,
              3);
    EXPECT_EQ(start([]() -> task<unassignable> {
                co_await moving();
                co_return unassignable{3};
              }).value,
              3);
    EXPECT_TRUE(start([]() -> task<aligned> {
                  co_await moving();
                  co_return aligned{};
                }).whole());
    EXPECT_TRUE(start([]() -> task<large> {
                  co_await moving();
                  co_return large{};
                }).whole());
    EXPECT_EQ(&start([]() -> task<long&> {
      co_await moving();
      co_return kept;
    }),
              &kept);
    start([]() -> task<> { co_await moving(); });
  };
  each([](auto&& f) -> decltype(auto) { return ground().run(f); });
  each([](auto&& f) -> decltype(auto) { return ground().submit(f).get(); });
  ground().run([&] { each([](auto&& f) -> decltype(auto) { return nopal::sync_wait(f); }); });
}

// What a closure keeps lives as long as the closure: if the caller waits, it is the caller's own.
TEST(arguments, results_may_refer_to_the_closure) {
  auto own = [s = lasting]() mutable -> std::string& { return s; };
  EXPECT_EQ(&ground().run(own), &own());
  EXPECT_EQ(ground().run([s = lasting]() -> std::string const& { return s; }), lasting);
  EXPECT_EQ(ground().run([s = lasting](long) -> std::string_view { return s; }, 1), lasting);
  EXPECT_EQ(ground().run([](std::string const& s) -> std::string const& { return s; }, std::string(100, 'x')), std::string(100, 'x'));
}

}  // namespace
