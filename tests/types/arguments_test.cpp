// Arguments of every kind reach functions by every way to start one, whole, and live as long as the function runs.

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../callable_parts.hpp"
#include "../given_arguments.hpp"
#include "nopal/nopal.hpp"

namespace {

using namespace test::given;
using callables::handle;
using nopal::task;

// ---- Temporaries, if the caller waits.

/// start(f, arguments...) calls f and returns its result, while temporaries live.
template <class Start>
void give_temporaries(Start start) {
  long const x100 = 100L * 'x';
#define GIVE(NAME, ...)                                \
  [&] {                                                \
    long const plain = start(NAME, __VA_ARGS__);       \
    EXPECT_EQ(plain, start(NAME##_task, __VA_ARGS__)); \
    return plain;                                      \
  }()
  EXPECT_EQ(GIVE(of_string, std::string(100, 'x')), x100);
  EXPECT_EQ(GIVE(of_string, "literal"), total("literal"));
  EXPECT_EQ(GIVE(of_string_const, std::string(100, 'x')), x100);
  EXPECT_EQ(GIVE(of_string_const, "a literal that is too long for a small string"), total("a literal that is too long for a small string"));
  EXPECT_EQ(GIVE(of_string_const, lasting), total(lasting));
  EXPECT_EQ(GIVE(of_string_const, std::ref(lasting)), total(lasting));
  EXPECT_EQ(GIVE(of_string_temporary, std::string(100, 'x')), x100);
  EXPECT_EQ(GIVE(of_string_temporary, "a literal that is too long for a small string"),
            total("a literal that is too long for a small string"));
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

// ---- Objects that last, if the caller continues.

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

/// start(f, arguments...) calls f later, and returns its result.
template <class Start>
void give_what_lasts(Start start) {
  long const l = total(lasting), t = total("literal");
  auto const named = std::make_unique<long>(4);
#define GIVE(NAME, ...)                                \
  [&] {                                                \
    long const plain = start(NAME, __VA_ARGS__);       \
    EXPECT_EQ(plain, start(NAME##_task, __VA_ARGS__)); \
    return plain;                                      \
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
    // As `f`, but with the result stored elsewhere; its parameters must be f's own.
    auto const detached = [&]<class R, class... P>(R (*)(P...)) {
      ground().detach(
          [&result, &done, g = static_cast<function*>(f)](P... p) {
            result = nopal::sync_wait(g, static_cast<P&&>(p)...);
            done.done();
          },
          std::forward<decltype(a)>(a)...);
    };
    detached(static_cast<function*>(f));
    nopal::wait_for(done);
    return result;
  });
}

/// Its k-th copy or move throws.
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
