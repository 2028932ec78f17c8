// Arguments of every kind reach every kind of function by every way to start one, whole, and for as long as it runs.

#include <gtest/gtest.h>

#include <array>
#include <cstdarg>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../callables.hpp"
#include "nopal/nopal.hpp"

namespace {

using callables::handle;
using nopal::task;

nopal::pool& ground() {
  static nopal::pool pool{{.workers = 3}};
  return pool;
}
/// To be awaited first by every coroutine here: whatever started it returns meanwhile, and its temporaries are gone.
auto moving() { return nopal::resume_on(ground().worker(nopal::this_worker::index() == 0 ? 1 : 0)); }

std::string const lasting(100, 'l');
enum class color : short { red = 7 };
struct number {
  number(long n) : value{n} {}  // NOLINT(google-explicit-constructor): converted from a long
  long value;
};

// ---- What is called. Each returns a number that only its whole argument gives. f: an ordinary function, f_task: a coroutine function.

#define BOTH(NAME, PARAMETERS, EXPRESSION)                        \
  long NAME PARAMETERS { return static_cast<long>(EXPRESSION); }  \
  task<long> NAME##_task PARAMETERS {                             \
    co_await moving();                                            \
    co_return static_cast<long>(EXPRESSION);                      \
  }
long sum(auto const& all) { return std::accumulate(std::begin(all), std::end(all), 0L); }
BOTH(of_string, (std::string s), sum(s))
BOTH(of_string_const, (std::string const& s), sum(s))
BOTH(of_string_temporary, (std::string && s), sum(s))
BOTH(of_string_view, (std::string_view s), sum(s))
BOTH(of_span, (std::span<int const> s), sum(s))
BOTH(of_list, (std::initializer_list<int> l), sum(l))
BOTH(of_unique, (std::unique_ptr<long> p), *p)
BOTH(of_unique_const, (std::unique_ptr<long> const& p), *p)
BOTH(of_handle, (handle h, handle i), h.value * 10 + i.value)
BOTH(of_pointer, (int const* p), p == nullptr ? -1 : *p)
BOTH(of_array, (int const (&a)[3]), sum(a))
BOTH(of_color, (color c), c)
BOTH(of_number_const, (number const& n), n.value)
BOTH(of_volatile, (int volatile& n), n)
BOTH(of_reference, (long& n), ++n)
BOTH(of_function, (long (*f)(color), color c), f(c))

long total(std::string_view s) { return sum(s); }
int const three[3] = {1, 2, 3};

// ---- Temporaries, where the caller waits.

/// start(f, arguments...) calls f and gives its result, while temporaries live.
template <class Start>
void give_temporaries(Start start) {
  long const x100 = 100L * 'x';
#define GIVE(NAME, ...)                      \
  [&] {                                      \
    long const plain = start(NAME, __VA_ARGS__); \
    EXPECT_EQ(plain, start(NAME##_task, __VA_ARGS__)); \
    return plain;                            \
  }()
  EXPECT_EQ(GIVE(of_string, std::string(100, 'x')), x100);
  EXPECT_EQ(GIVE(of_string, "literal"), total("literal"));
  EXPECT_EQ(GIVE(of_string_const, std::string(100, 'x')), x100);
  EXPECT_EQ(GIVE(of_string_const, "a literal that is too long for a small string"), total("a literal that is too long for a small string"));
  EXPECT_EQ(GIVE(of_string_const, lasting), total(lasting));
  EXPECT_EQ(GIVE(of_string_const, std::ref(lasting)), total(lasting));
  EXPECT_EQ(GIVE(of_string_temporary, std::string(100, 'x')), x100);
  EXPECT_EQ(GIVE(of_string_temporary, "a literal that is too long for a small string"), total("a literal that is too long for a small string"));
  EXPECT_EQ(GIVE(of_string_view, std::string(100, 'x')), x100);
  EXPECT_EQ(GIVE(of_string_view, "literal"), total("literal"));
  EXPECT_EQ(GIVE(of_span, std::vector<int>{1, 2, 3}), 6);
  EXPECT_EQ(GIVE(of_span, std::array{1, 2, 3}), 6);
  EXPECT_EQ(GIVE(of_list, std::initializer_list<int>{1, 2, 3}), 6);
  EXPECT_EQ(GIVE(of_unique, std::make_unique<long>(4)), 4);
  EXPECT_EQ(GIVE(of_unique_const, std::make_unique<long>(4)), 4);
  EXPECT_EQ(GIVE(of_handle, handle{3}, handle{4}), 34);
  EXPECT_EQ(GIVE(of_pointer, three), 1);
  EXPECT_EQ(GIVE(of_pointer, nullptr), -1);
  EXPECT_EQ(GIVE(of_array, three), 6);
  EXPECT_EQ(GIVE(of_color, color::red), 7);
  EXPECT_EQ(GIVE(of_number_const, 12L), 12);
  EXPECT_EQ(GIVE(of_function, of_color, color::red), 7);
  EXPECT_EQ(GIVE(of_function, [](color c) { return static_cast<long>(c) + 1; }, color::red), 8);
  long n = 0;
  EXPECT_EQ(start(of_reference, n) + start(of_reference_task, n), 1 + 2);
  EXPECT_EQ(start(of_reference, std::ref(n)) + start(of_reference_task, std::ref(n)), 3 + 4);
  int volatile v = 3;
  EXPECT_EQ(start(of_volatile, v) + start(of_volatile_task, v), 3 + 3);
#undef GIVE
}

TEST(arguments, run_takes_temporaries) {
  give_temporaries([](auto&& f, auto&&... a) { return ground().run(f, std::forward<decltype(a)>(a)...); });
}
TEST(arguments, run_on_a_worker_takes_temporaries) {
  ground().run([] { give_temporaries([](auto&& f, auto&&... a) { return ground().run(f, std::forward<decltype(a)>(a)...); }); });
}
TEST(arguments, sync_wait_takes_temporaries) {
  ground().run([] { give_temporaries([](auto&& f, auto&&... a) { return nopal::sync_wait(f, std::forward<decltype(a)>(a)...); }); });
}
TEST(arguments, parallel_sync_wait_takes_temporaries) {
  ground().run([] {
    give_temporaries([](auto&& f, auto&&... a) {
      long x = 0;
      nopal::parallel_invoke([] {}, [&] { x = nopal::sync_wait(f, std::forward<decltype(a)>(a)...); });
      return x;
    });
  });
}

TEST(arguments, sync_wait_off_a_pool_takes_temporaries) {
  EXPECT_EQ(nopal::sync_wait(of_string_const, std::string(100, 'x')), 100L * 'x');
  EXPECT_EQ(nopal::sync_wait(of_string_view, std::string(100, 'x')), 100L * 'x');
  long n = 0;
  EXPECT_EQ(nopal::sync_wait(of_reference, std::ref(n)), 1);
}

task<> call_takes_temporaries() {
  EXPECT_EQ(co_await nopal::call(of_string_task, std::string(100, 'x')), 100L * 'x');
  EXPECT_EQ(co_await nopal::call(of_string_const_task, std::string(100, 'x')), 100L * 'x');
  EXPECT_EQ(co_await nopal::call(of_string_const_task, "a literal that is too long for a small string"),
            total("a literal that is too long for a small string"));
  EXPECT_EQ(co_await nopal::call(of_string_temporary_task, std::string(100, 'x')), 100L * 'x');
  EXPECT_EQ(co_await nopal::call(of_string_view_task, std::string(100, 'x')), 100L * 'x');
  EXPECT_EQ(co_await nopal::call(of_span_task, std::vector<int>(3, 2)), 6);
  EXPECT_EQ(co_await nopal::call(of_number_const_task, 12L), 12);
  long const of_three = co_await nopal::call(of_array_task, three);
  EXPECT_EQ(of_three, 6);
  EXPECT_EQ(co_await nopal::call(of_pointer_task, nullptr), -1);
  EXPECT_EQ(co_await nopal::call(of_handle_task, handle{3}, handle{4}), 34);
  long n = 0;
  EXPECT_EQ(co_await nopal::call(of_reference_task, std::ref(n)), 1);
  co_await nopal::call(&n, of_unique_task, std::make_unique<long>(4));
  EXPECT_EQ(n, 4);
  co_await nopal::call(&n, of_string_const_task, std::string(100, 'x'));
  EXPECT_EQ(n, 100L * 'x');
}
TEST(arguments, call_takes_temporaries) { ground().run(call_takes_temporaries); }

// ---- What lasts, where the caller goes on.

task<> fork_takes_what_lasts() {
  std::array<long, 12> n{};
  long counted = 0;
  std::string const* const name = &lasting;
  auto const shared = std::make_unique<long>(4);
  co_await nopal::fork(&n[0], of_string_task, std::string(100, 'x'));
  co_await nopal::fork(&n[1], of_string_task, "literal");
  co_await nopal::fork(&n[2], of_string_const_task, *name);
  co_await nopal::fork(&n[3], of_string_const_task, std::ref(lasting));
  co_await nopal::fork(&n[4], of_string_view_task, "literal");
  co_await nopal::fork(&n[5], of_span_task, std::span{three});
  co_await nopal::fork(&n[6], of_unique_task, std::make_unique<long>(3));
  co_await nopal::fork(&n[7], of_unique_const_task, shared);
  co_await nopal::fork(&n[8], of_handle_task, handle{3}, handle{4});
  co_await nopal::fork(&n[9], of_array_task, three);
  co_await nopal::fork(&n[10], of_pointer_task, nullptr);
  co_await nopal::fork(&n[11], of_function_task, of_color, color::red);
  co_await nopal::fork(of_reference_task, std::ref(counted));
  co_await nopal::join;
  long const l = total(lasting), t = total("literal");
  EXPECT_EQ(n, (std::array<long, 12>{100L * 'x', t, l, l, t, 6, 3, 4, 34, 6, -1, 7}));
  EXPECT_EQ(counted, 1);
}
TEST(arguments, fork_takes_what_lasts) { ground().run(fork_takes_what_lasts); }

/// start(f, arguments...) calls f later, and gives its result.
template <class Start>
void give_what_lasts(Start start) {
  long const l = total(lasting), t = total("literal");
  auto const named = std::make_unique<long>(4);
#define GIVE(NAME, ...)                      \
  [&] {                                      \
    long const plain = start(NAME, __VA_ARGS__); \
    EXPECT_EQ(plain, start(NAME##_task, __VA_ARGS__)); \
    return plain;                            \
  }()
  EXPECT_EQ(GIVE(of_string, std::string(100, 'x')), 100L * 'x');
  EXPECT_EQ(GIVE(of_string, std::string_view{"literal"}.data()), t);
  EXPECT_EQ(GIVE(of_string, "literal"), t);
  EXPECT_EQ(GIVE(of_string_const, lasting), l);
  EXPECT_EQ(GIVE(of_string_const, std::ref(lasting)), l);
  EXPECT_EQ(GIVE(of_string_view, "literal"), t);
  EXPECT_EQ(GIVE(of_string_view, lasting), l);
  EXPECT_EQ(GIVE(of_string_view, std::string_view{lasting}), l);
  EXPECT_EQ(GIVE(of_span, std::span{three}), 6);
  EXPECT_EQ(GIVE(of_unique, std::make_unique<long>(3)), 3);
  EXPECT_EQ(GIVE(of_unique_const, named), 4);
  EXPECT_EQ(GIVE(of_handle, handle{3}, handle{4}), 34);
  EXPECT_EQ(GIVE(of_pointer, three), 1);
  EXPECT_EQ(GIVE(of_pointer, nullptr), -1);
  EXPECT_EQ(GIVE(of_array, three), 6);
  EXPECT_EQ(GIVE(of_color, color::red), 7);
  EXPECT_EQ(GIVE(of_function, of_color, color::red), 7);
#undef GIVE
  long n = 0;
  EXPECT_EQ(start(of_reference, n) + start(of_reference_task, std::ref(n)), 1 + 2);
  int volatile v = 3;
  EXPECT_EQ(start(of_volatile, v) + start(of_volatile_task, v), 3 + 3);
}
TEST(arguments, submit_takes_what_lasts) {
  give_what_lasts([](auto&& f, auto&&... a) { return ground().submit(f, std::forward<decltype(a)>(a)...).get(); });
}
TEST(arguments, detach_takes_what_lasts) {
  give_what_lasts([](auto&& f, auto&&... a) {
    using function = std::remove_reference_t<decltype(f)>;
    nopal::counter done{1};
    long result = 0;
    // As `f`, but the result goes elsewhere; its parameters must be f's own.
    auto const detached = [&]<class R, class... P>(R (*)(P...)) {
      ground().detach([&result, &done, g = static_cast<function*>(f)](P... p) {
        result = nopal::sync_wait(g, static_cast<P&&>(p)...);
        done.done();
      }, std::forward<decltype(a)>(a)...);
    };
    detached(static_cast<function*>(f));
    nopal::wait_for(done);
    return result;
  });
}

// ---- Callables that take arguments.

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
    co_return factor * n;
  }
};
struct when_named final {
  long factor = 3;
  task<long> operator()(long n) const& {
    co_await moving();
    co_return factor * n;
  }
};
struct hostile_callable final : callables::hostile {
  long factor = 3;
  task<long> operator()(long n) noexcept {
    co_await moving();
    co_return factor * n;
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
    co_return factor * n;
  };
  auto capturing = [h = handle{3}](long n) mutable -> task<long> {
    co_await moving();
    co_return h.value * n;
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
    EXPECT_EQ(start([h = handle{3}](long x) -> task<long> {
      co_await moving();
      co_return h.value * x;
    }, 4), 12);
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

// Their parameters cannot be seen.
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

// ---- Results.

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
    }), 3);
    EXPECT_EQ(start([]() -> task<without_default> {
      co_await moving();
      co_return without_default{3};
    }).value, 3);
    EXPECT_EQ(start([]() -> task<unassignable> {
      co_await moving();
      co_return unassignable{3};
    }).value, 3);
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
    }), &kept);
    start([]() -> task<> { co_await moving(); });
  };
  each([](auto&& f) -> decltype(auto) { return ground().run(f); });
  each([](auto&& f) -> decltype(auto) { return ground().submit(f).get(); });
  ground().run([&] { each([](auto&& f) -> decltype(auto) { return nopal::sync_wait(f); }); });
}

// What a closure keeps lives as long as the closure: where the caller waits, it is the caller's own.
TEST(arguments, results_may_refer_to_the_closure) {
  auto own = [s = lasting]() mutable -> std::string& { return s; };
  EXPECT_EQ(&ground().run(own), &own());
  EXPECT_EQ(ground().run([s = lasting]() -> std::string const& { return s; }), lasting);
  EXPECT_EQ(ground().run([s = lasting](long) -> std::string_view { return s; }, 1), lasting);
  EXPECT_EQ(ground().run([](std::string const& s) -> std::string const& { return s; }, std::string(100, 'x')), std::string(100, 'x'));
}

/// Its copy or move throws, the k-th.
struct fragile {
  static inline int left = 0;
  fragile() = default;
  fragile(fragile const&) { count(); }
  fragile(fragile&&) { count(); }
  fragile& operator=(fragile const&) {
    count();
    return *this;
  }
  static void count() {
    if (--left == 0) throw std::runtime_error{"copied"};
  }
};

TEST(arguments, whose_copies_throw) {
  std::string const whole(100, 'w');
  auto const ordinary = [&](std::string a, fragile f, std::string const& b, fragile const&) {
    EXPECT_EQ(a, b);
    return f;
  };
  auto const coroutine = [&](std::string a, fragile f, std::string const& b, fragile const&) -> task<fragile> {
    co_await moving();
    EXPECT_EQ(a, b);
    co_return f;
  };
  auto const both = [&](auto start) {
    for (int k = 1; k < 12; ++k) {
      fragile const f;
      int thrown = 0;
      fragile::left = k;
      try {
        start(ordinary, whole, f, whole, f);
      } catch (std::runtime_error const&) {
        ++thrown;
      }
      EXPECT_EQ(thrown, fragile::left <= 0 ? 1 : 0);
      thrown = 0;
      fragile::left = k;
      try {
        start(coroutine, whole, f, whole, f);
      } catch (std::runtime_error const&) {
        ++thrown;
      }
      EXPECT_EQ(thrown, fragile::left <= 0 ? 1 : 0);
    }
    fragile::left = 0;
  };
  both([](auto& f, auto&... a) { static_cast<void>(ground().run(f, a...)); });
  both([](auto& f, auto&... a) { static_cast<void>(ground().submit(f, a...).get()); });
  ground().run([&] { both([](auto& f, auto&... a) { static_cast<void>(nopal::sync_wait(f, a...)); }); });
  auto const parent = [&](fragile const& f, bool forks) -> task<> {
    fragile slot;
    if (forks) {
      co_await nopal::fork(&slot, coroutine, whole, f, whole, f);
      co_await nopal::join;
    } else {
      static_cast<void>(co_await nopal::call(coroutine, whole, f, whole, f));
    }
  };
  for (bool const forks : {false, true}) {
    both([&](auto&, auto&, auto& f, auto&, auto&) { ground().run(parent, f, forks); });
  }
}

}  // namespace
