// Arguments reach every kind of callable by every way to start one.

#include <gtest/gtest.h>

#include <array>
#include <cstdarg>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../callable_parts.hpp"
#include "../given_arguments.hpp"
#include "nopal/nopal.hpp"

namespace {

using callables::handle;
using nopal::task;
using test::given::ground;
using test::given::moving;
using test::given::sum;
using test::given::total;

struct object {
  long value = 10;
  long plain(long n) { return value += n; }
  long constant(long n) const { return value + n; }
  long quiet(long n) noexcept { return value + n; }
  long named(long n) & { return value + n; }
  long temporary(long n) && { return value + n; }
  long constant_named(long n) const& noexcept { return value + n; }
  long changing(long n) volatile { return value + n; }
  task<long> plain_task(long n) {
    co_await moving();
    co_return value + n;
  }
  task<long> constant_task(long n) const& {
    co_await moving();
    co_return value + n;
  }
  task<long> temporary_task(long n) && noexcept {
    co_await moving();
    co_return value + n;
  }
  task<long> operator()(long n) const {
    co_await moving();
    co_return value + n;
  }
};
struct derived : object {};

TEST(arguments, members_are_called_as_by_invoke) {
  object o;
  object const c;
  derived d;
  auto const shared = std::make_shared<object>();
  auto const each = [&](auto start) {
    o.value = 10;
    EXPECT_EQ(start(&object::plain, o, 1), 11);
    EXPECT_EQ(start(&object::plain, &o, 1), 12);
    EXPECT_EQ(start(&object::plain, std::ref(o), 1), 13);
    o.value = 10;
    EXPECT_EQ(start(&object::plain, d, 0), 10);
    EXPECT_EQ(start(&object::plain, &d, 0), 10);
    EXPECT_EQ(start(&object::constant, o, 1), 11);
    EXPECT_EQ(start(&object::constant, c, 1), 11);
    EXPECT_EQ(start(&object::constant, &c, 1), 11);
    EXPECT_EQ(start(&object::constant, shared, 1), 11);
    EXPECT_EQ(start(&object::constant, std::make_shared<object>(), 1), 11);
    EXPECT_EQ(start(&object::plain, std::make_unique<object>(), 1), 11);
    EXPECT_EQ(start(&object::quiet, o, 1), 11);
    EXPECT_EQ(start(&object::named, o, 1), 11);
    EXPECT_EQ(start(&object::constant_named, c, 1), 11);
    EXPECT_EQ(start(&object::changing, o, 1), 11);
    EXPECT_EQ(start(&object::value, o), 10);
    EXPECT_EQ(start(&object::value, c), 10);
    EXPECT_EQ(start(&object::value, &o), 10);
    EXPECT_EQ(start(&object::value, std::ref(o)), 10);
    EXPECT_EQ(start(&object::plain_task, o, 1), 11);
    EXPECT_EQ(start(&object::plain_task, &d, 1), 11);
    EXPECT_EQ(start(&object::plain_task, std::ref(o), 1), 11);
    EXPECT_EQ(start(&object::plain_task, shared, 1), 11);
    EXPECT_EQ(start(&object::plain_task, std::make_unique<object>(), 1), 11);
    EXPECT_EQ(start(&object::constant_task, c, 1), 11);
    EXPECT_EQ(start(&object::constant_task, o, 1), 11);
  };
  each([](auto f, auto&&... a) { return ground().run(f, std::forward<decltype(a)>(a)...); });
  each([](auto f, auto&&... a) { return ground().submit(f, std::forward<decltype(a)>(a)...).get(); });
  ground().run([&] { each([](auto f, auto&&... a) { return nopal::sync_wait(f, std::forward<decltype(a)>(a)...); }); });
  EXPECT_EQ(ground().run(&object::temporary, object{}, 1), 11);
  EXPECT_EQ(ground().run(&object::temporary_task, object{}, 1), 11);
  EXPECT_EQ(ground().run(&object::plain_task, o, 1L), 11);
}

task<> members_are_forked_and_called() {
  object o;
  object const c;
  derived d;
  auto const shared = std::make_shared<object>();
  auto const unique = std::make_unique<object>();
  std::array<long, 7> n{};
  co_await nopal::fork(&n[0], &object::plain_task, o, 1);
  co_await nopal::fork(&n[1], &object::plain_task, &o, 1);
  co_await nopal::fork(&n[2], &object::plain_task, d, 1);
  co_await nopal::fork(&n[3], &object::constant_task, c, 1);
  co_await nopal::fork(&n[4], &object::constant_task, std::ref(c), 1);
  co_await nopal::fork(&n[5], &object::plain_task, shared, 1);
  co_await nopal::fork(&n[6], &object::plain_task, unique, 1);
  co_await nopal::join;
  for (long const x : n) EXPECT_EQ(x, 11);
  EXPECT_EQ(co_await nopal::call(&object::plain_task, o, 1), 11);
  EXPECT_EQ(co_await nopal::call(&object::plain_task, std::make_unique<object>(), 1), 11);
  EXPECT_EQ(co_await nopal::call(&object::temporary_task, object{}, 1), 11);
  EXPECT_EQ(co_await nopal::call(&object::constant_task, object{}, 1), 11);
}
TEST(arguments, members_are_forked_and_called) { ground().run(members_are_forked_and_called); }

task<long> triple(long n) noexcept {
  co_await moving();
  co_return 3 * n;
}
struct when_temporary {
  long factor = 3;
  task<long> operator()(long n) && {
    co_await moving();
    co_return factor* n;
  }
};
struct when_named final {
  long factor = 3;
  task<long> operator()(long n) const& {
    co_await moving();
    co_return factor* n;
  }
};
struct hostile_callable final : callables::hostile {
  long factor = 3;
  task<long> operator()(long n) noexcept {
    co_await moving();
    co_return factor* n;
  }
};

task<> coroutines_of_every_kind() {
  long a = 4;
  auto generic = [](auto n) -> task<long> {
    co_await moving();
    co_return 3 * n;
  };
  auto by_reference = [](auto& n) -> task<long> {
    co_await moving();
    co_return 3 * n;
  };
  auto forwarding = [](auto&&... n) -> task<long> {
    co_await moving();
    co_return (3 * ... * n);
  };
  auto defaulted = [](long n, long factor = 3) -> task<long> {
    co_await moving();
    co_return factor* n;
  };
  auto capturing = [h = handle{3}](long n) mutable -> task<long> {
    co_await moving();
    co_return h.value* n;
  };
  auto large = [b = callables::block<4096>{}](long n) -> task<long> {
    co_await moving();
    co_return b.whole() ? 3 * n : 0;
  };
  std::function<task<long>(long)> const function = triple;
  when_named const named;
  hostile_callable hostile;
  auto const bound = std::bind(triple, 4);
  std::array<long, 13> n{};
  co_await nopal::fork(&n[0], triple, 4);
  co_await nopal::fork(&n[1], &triple, 4);
  co_await nopal::fork(&n[2], generic, a);
  co_await nopal::fork(&n[3], by_reference, a);
  co_await nopal::fork(&n[4], forwarding, a);
  co_await nopal::fork(&n[5], defaulted, 4);
  co_await nopal::fork(&n[6], capturing, 4);
  co_await nopal::fork(&n[7], large, 4);
  co_await nopal::fork(&n[8], function, 4);
  co_await nopal::fork(&n[9], named, 4);
  co_await nopal::fork(&n[10], hostile, 4);
  co_await nopal::fork(&n[11], bound);
  co_await nopal::fork(&n[12], std::ref(capturing), 4);
  co_await nopal::join;
  for (long const x : n) EXPECT_EQ(x, 12) << &x - n.data();

  auto const all = [&](auto start) {
    EXPECT_EQ(start(triple, 4), 12);
    EXPECT_EQ(start(generic, a), 12);
    EXPECT_EQ(start(by_reference, a), 12);
    EXPECT_EQ(start(forwarding, a), 12);
    EXPECT_EQ(start(defaulted, 4), 12);
    EXPECT_EQ(start(std::ref(capturing), 4), 12);
    EXPECT_EQ(start(large, 4), 12);
    EXPECT_EQ(start(function, 4), 12);
    EXPECT_EQ(start(std::function<task<long>(long)>{triple}, 4), 12);
    EXPECT_EQ(start(named, 4), 12);
    EXPECT_EQ(start(hostile, 4), 12);
    EXPECT_EQ(start(bound), 12);
    EXPECT_EQ(start(when_temporary{}, 4), 12);
    EXPECT_EQ(start(
                  [h = handle{3}](long x) -> task<long> {
                    co_await moving();
                    co_return h.value* x;
                  },
                  4),
              12);
  };
  all([](auto&& f, auto&&... x) { return ground().run(std::forward<decltype(f)>(f), std::forward<decltype(x)>(x)...); });
  all([](auto&& f, auto&&... x) { return ground().submit(std::forward<decltype(f)>(f), std::forward<decltype(x)>(x)...).get(); });
  all([](auto&& f, auto&&... x) { return nopal::sync_wait(std::forward<decltype(f)>(f), std::forward<decltype(x)>(x)...); });
  EXPECT_EQ(ground().run(capturing, 4), 12);

  EXPECT_EQ(co_await nopal::call(triple, 4), 12);
  EXPECT_EQ(co_await nopal::call(generic, a), 12);
  EXPECT_EQ(co_await nopal::call(by_reference, a), 12);
  EXPECT_EQ(co_await nopal::call(forwarding, a), 12);
  EXPECT_EQ(co_await nopal::call(forwarding, 4L), 12);
  EXPECT_EQ(co_await nopal::call(defaulted, 4), 12);
  EXPECT_EQ(co_await nopal::call(capturing, 4), 12);
  EXPECT_EQ(co_await nopal::call(std::function<task<long>(long)>{triple}, 4), 12);
  EXPECT_EQ(co_await nopal::call(when_temporary{}, 4), 12);
  EXPECT_EQ(co_await nopal::call(hostile, 4), 12);
  EXPECT_EQ(co_await nopal::call(bound), 12);
  co_await nopal::call(&a, when_temporary{}, 4);
  EXPECT_EQ(a, 12);
}
TEST(arguments, coroutines_of_every_kind) { ground().run(coroutines_of_every_kind); }

int variadic(int n, ...) {
  std::va_list list;
  va_start(list, n);
  int result = 0;
  for (int i = 0; i < n; ++i) result += va_arg(list, int);
  va_end(list);
  return result;
}
struct overloaded {
  long operator()(std::string const& s) const { return sum(s); }
  long operator()(long& n) const { return ++n; }
  long operator()(std::span<int const> s) const { return sum(s); }
};

// Their parameters are not visible.
TEST(arguments, functions_whose_parameters_are_hidden) {
  auto const each = [](auto start) {
    EXPECT_EQ(start(variadic, 3, 1, 2, 4), 7);
    EXPECT_EQ(start(&variadic, 0), 0);
    EXPECT_EQ(start(overloaded{}, std::string(100, 'x')), 100L * 'x');
    EXPECT_EQ(start(overloaded{}, "a literal that is too long for a small string"), total("a literal that is too long for a small string"));
    EXPECT_EQ(start(overloaded{}, std::vector<int>{1, 2, 3}), 6);  // a job has a copy, which lives as long
    EXPECT_EQ(start(std::bind(std::minus<long>{}, std::placeholders::_2, std::placeholders::_1), 4L, 7L), 3);
    long n = 0;
    EXPECT_EQ(start(overloaded{}, std::ref(n)), 1);
    EXPECT_EQ(start(std::plus<>{}, n, n), 2);
  };
  each([](auto&& f, auto&&... a) { return ground().run(f, std::forward<decltype(a)>(a)...); });
  each([](auto&& f, auto&&... a) { return ground().submit(f, std::forward<decltype(a)>(a)...).get(); });
  long n = 0;
  EXPECT_EQ(ground().run(overloaded{}, n), 1);
  EXPECT_EQ(ground().run(std::plus<>{}, 4L, 7L), 11);
}

}  // namespace
