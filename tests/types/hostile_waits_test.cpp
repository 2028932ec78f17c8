// Channels, futures, slots and all else that carries values, with values that are copied and moved in hostile ways.

#include <gtest/gtest.h>

#include <any>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hostile_values.hpp"
#include "nopal/nopal.hpp"

namespace {

using namespace test::hostile;
using namespace std::chrono_literals;

template <class T>
class hostile_values : public testing::Test {
 protected:
  nopal::pool pool_{{.workers = 2}};
};
using kinds = testing::Types<greedy, two_copies, without_operators, with_other_operators, only_moves, wide>;
TYPED_TEST_SUITE(hostile_values, kinds);

/// Optionals of a greedy type can be made from anything: so only their values are read.
template <class Optional>
long popped(Optional const& o) {
  return o.has_value() ? o->get() : -1;
}

TYPED_TEST(hostile_values, go_through_a_channel) {
  nopal::channel<TypeParam> ch{3};
  EXPECT_TRUE(ch.push(TypeParam::make(1)));
  EXPECT_TRUE(ch.try_push(TypeParam::make(2)));
  auto three = TypeParam::make(3);
  EXPECT_TRUE(ch.try_push_for(std::move(three), 1s));
  auto four = TypeParam::make(4);
  EXPECT_FALSE(ch.try_push(std::move(four)));
  EXPECT_EQ(four.get(), 4);
  EXPECT_EQ(popped(ch.pop()), 1);
  EXPECT_EQ(popped(ch.try_pop()), 2);
  EXPECT_EQ(popped(ch.try_pop_for(1s)), 3);
  EXPECT_EQ(popped(ch.try_pop()), -1);
  if constexpr (std::is_copy_constructible_v<TypeParam>) {
    auto five = TypeParam::make(5);
    EXPECT_TRUE(ch.push(five));
    EXPECT_TRUE(ch.try_push(std::as_const(five)));
    EXPECT_TRUE(ch.try_push_for(five, 1s));
    EXPECT_EQ(five.get(), 5);
    EXPECT_EQ(popped(ch.pop()) + popped(ch.pop()) + popped(ch.pop()), 15);
  }
}
TYPED_TEST(hostile_values, go_through_a_channel_between_strands) {
  nopal::channel<TypeParam> ch{2};
  nopal::counter left;
  long sum = 0;
  this->pool_.run([&] {
    nopal::spawn(left, [&] {
      for (long i = 0; i < 100; ++i) ch.push(TypeParam::make(i));
      ch.close();
    });
    for (auto& x : ch) sum += x.get();
    nopal::wait_for(left);
  });
  EXPECT_EQ(sum, 4950);
}
TYPED_TEST(hostile_values, are_selected) {
  nopal::channel<TypeParam> ch{2};
  auto value = TypeParam::make(7);
  bool taken = false;
  EXPECT_EQ(nopal::select(nopal::on_push(ch, std::move(value), [&](bool t) { taken = t; }), nopal::on_timeout(10s)), 0U);
  EXPECT_TRUE(taken);
  long got = 0;
  EXPECT_EQ(nopal::select(nopal::on_pop(ch, [&](auto o) { got = popped(o); }), nopal::on_timeout(10s)), 0U);
  EXPECT_EQ(got, 7);
  auto future = this->pool_.submit([] { return TypeParam::make(8); });
  EXPECT_EQ(nopal::select(nopal::on_pop(ch, [](auto&&) {}), nopal::on_ready(future, [&](auto& f) { got = f.get().get(); })), 1U);
  EXPECT_EQ(got, 8);
  if constexpr (std::is_copy_constructible_v<TypeParam>) {
    auto nine = TypeParam::make(9);
    nopal::select(nopal::on_push(ch, nine));
    EXPECT_EQ(nine.get(), 9);
    EXPECT_EQ(popped(ch.pop()), 9);
  }
}

template <class T>
nopal::task<T> made(long n) {
  co_return T::make(n);
}
template <class T>
nopal::task<T> made_of_a_variable(long n) {
  T result = T::make(n);
  co_return result;
}
template <class T>
nopal::task<T> made_of_what_is_moved(long n) {
  T result = T::make(n);
  co_return std::move(result);  // NOLINT(performance-move-const-arg): as some write
}
template <class T>
nopal::task<T> copied(T const& from) {
  co_return from;
}
template <class T>
T plainly(long n) {
  return T::make(n);
}

/// A compiler's coroutine frames are aligned to 16 bytes, whatever they contain: so tasks return no values of greater alignment.
template <class T>
using from_tasks = std::conditional_t<alignof(T) <= 16, T, two_copies>;

TYPED_TEST(hostile_values, are_results_of_tasks) {
  using T = from_tasks<TypeParam>;
  EXPECT_EQ(this->pool_.run(made<T>, 1).get(), 1);
  EXPECT_EQ(this->pool_.run(made_of_a_variable<T>, 2).get(), 2);
  EXPECT_EQ(this->pool_.run(made_of_what_is_moved<T>, 3).get(), 3);
  EXPECT_EQ(nopal::sync_wait(made_of_a_variable<T>, 5).get(), 5);
  EXPECT_EQ(this->pool_.submit(made<T>, 6).get().get(), 6);
  EXPECT_EQ(this->pool_.submit(made_of_a_variable<T>, 7).get().get(), 7);
  if constexpr (std::is_copy_constructible_v<T>) {
    auto const constant = T::make(10);
    EXPECT_EQ(this->pool_.run(copied<T>, constant).get(), 10);
  }
}
TYPED_TEST(hostile_values, are_results_of_jobs) {
  using T = TypeParam;
  EXPECT_EQ(this->pool_.run(plainly<T>, 4).get(), 4);
  EXPECT_EQ(this->pool_.submit(plainly<T>, 8).get().get(), 8);
  auto first = this->pool_.submit(plainly<T>, 9);
  auto second = this->pool_.submit(plainly<T>, 9);
  nopal::when_any(first, second);
  EXPECT_EQ(first.get().get() + second.get().get(), 18);
  EXPECT_EQ(nopal::block_on([] { return T::make(11); }).get(), 11);
  EXPECT_EQ(this->pool_.run([] { return nopal::block_on([] { return T::make(13); }).get(); }), 13);
  EXPECT_EQ(nopal::with_stop(std::stop_token{}, [] { return T::make(12); }).get(), 12);
}

/// Made by functions that return a constant: no constructor but that of the class is a better match for one.
template <class T>
T const constant(long n) {  // NOLINT(readability-const-return-type): what is tried
  return T::make(n);
}
template <class T>
nopal::task<T> made_of_a_constant(long n) {
  co_return constant<T>(n);
}
TYPED_TEST(hostile_values, are_constants_that_functions_return) {
  using T = TypeParam;
  EXPECT_EQ(this->pool_.run(constant<T>, 1).get(), 1);
  EXPECT_EQ(this->pool_.submit(constant<T>, 2).get().get(), 2);
  EXPECT_EQ(nopal::sync_wait([] { return constant<T>(3); }).get(), 3);
  EXPECT_EQ(nopal::block_on([] { return constant<T>(4); }).get(), 4);
  EXPECT_EQ(this->pool_.run([] { return nopal::block_on([] { return constant<T>(5); }).get(); }), 5);
  EXPECT_EQ(nopal::with_stop(std::stop_token{}, [] { return constant<T>(6); }).get(), 6);
  auto first = this->pool_.submit([] { return 7L; });
  EXPECT_EQ(first.then(constant<T>).get().get(), 7);
  EXPECT_EQ(this->pool_.submit(nopal::after(), constant<T>, 8).get().get(), 8);
  nopal::shared_future<T> shared = this->pool_.submit(constant<T>, 9).share();
  EXPECT_EQ(shared.get().get(), 9);
  if constexpr (std::is_copy_constructible_v<T>) {
    nopal::promise<T> p;
    p.set_value(constant<T>(10));
    EXPECT_EQ(p.get_future().get().get(), 10);
    nopal::promise<T> of_a_variable;
    auto variable = T::make(11);
    of_a_variable.set_value(variable);
    EXPECT_EQ(of_a_variable.get_future().get().get(), 11);
    nopal::channel<T> ch{1};
    ch.push(constant<T>(12));
    EXPECT_EQ(popped(ch.pop()), 12);
  }
}
/// A std::any can be made of anything: also of what the library has beside the result.
TEST(results_that_hold_anything, are_what_the_function_returns) {
  nopal::pool pool{{.workers = 2}};
  std::any const a = pool.run([] { return nopal::block_on([] { return std::any{1}; }); });
  EXPECT_EQ(std::any_cast<int>(a), 1);
  std::optional<std::any> const b = pool.run([] { return nopal::block_on([] { return std::optional<std::any>{2}; }); });
  EXPECT_EQ(std::any_cast<int>(b.value()), 2);
  std::tuple<std::any> const c = pool.run([] { return nopal::block_on([] { return std::tuple<std::any>{3}; }); });
  EXPECT_EQ(std::any_cast<int>(std::get<0>(c)), 3);
  EXPECT_EQ(std::any_cast<int>(pool.submit([] { return std::any{4}; }).get()), 4);
  auto const task = []() -> nopal::task<std::any> { co_return std::any{5}; };
  EXPECT_EQ(std::any_cast<int>(pool.run(task)), 5);
}

template <class T>
struct slots {
  nopal::eventually<T> in_place, of_a_variable, moved;
  std::optional<T> perhaps, of_call;
  T object = T::make(0);
  [[nodiscard]] long sum() const {
    return in_place->get() + 10 * of_a_variable->get() + 100 * moved->get() + 1000 * perhaps->get() + 10'000 * object.get() +
           100'000 * of_call->get();
  }
};
template <class T>
nopal::task<> into_slots(slots<T>* s) {
  co_await nopal::fork(std::addressof(s->in_place), made<T>, 1);
  co_await nopal::fork(std::addressof(s->of_a_variable), made_of_a_variable<T>, 2);
  co_await nopal::fork(std::addressof(s->moved), made_of_what_is_moved<T>, 3);
  co_await nopal::fork(std::addressof(s->perhaps), made<T>, 4);
  co_await nopal::fork(std::addressof(s->object), made_of_a_variable<T>, 5);
  co_await nopal::call(std::addressof(s->of_call), made<T>, 6);
  co_await nopal::join;
}
TYPED_TEST(hostile_values, go_to_slots) {
  slots<from_tasks<TypeParam>> s;
  this->pool_.run(into_slots<from_tasks<TypeParam>>, std::addressof(s));
  EXPECT_EQ(s.sum(), 654'321);
}
template <class T>
nopal::task<T> copied_of_a_variable(T& from) {
  co_return from;
}
template <class T>
nopal::task<long> of_a_called_constant() {
  co_return (co_await nopal::call(made<T const>, 5)).get();
}
template <class T>
nopal::task<> constants_into_slots(slots<T>* s) {
  co_await nopal::fork(std::addressof(s->in_place), made_of_a_constant<T>, 1);
  co_await nopal::fork(std::addressof(s->of_a_variable), made_of_a_constant<T>, 2);
  co_await nopal::fork(std::addressof(s->moved), made_of_a_constant<T>, 3);
  co_await nopal::fork(std::addressof(s->perhaps), made_of_a_constant<T>, 4);
  co_await nopal::fork(std::addressof(s->object), made_of_a_constant<T>, 5);
  s->of_call.emplace(co_await nopal::call(made_of_a_constant<T>, 6));
  co_await nopal::join;
}
TYPED_TEST(hostile_values, are_constants_that_tasks_return) {
  using T = from_tasks<TypeParam>;
  if constexpr (std::is_copy_constructible_v<T>) {
    slots<T> s;
    this->pool_.run(constants_into_slots<T>, std::addressof(s));
    EXPECT_EQ(s.sum(), 654'321);
    EXPECT_EQ(this->pool_.run(made_of_a_constant<T>, 1).get(), 1);
    EXPECT_EQ(this->pool_.submit(made_of_a_constant<T>, 2).get().get(), 2);
    auto variable = T::make(3);
    EXPECT_EQ(this->pool_.run(copied_of_a_variable<T>, variable).get(), 3);
    EXPECT_EQ(this->pool_.run(made<T const>, 4).get(), 4);
    EXPECT_EQ(this->pool_.run(of_a_called_constant<T>), 5);
  }
}
template <class T>
nopal::task<long> of_awaited(nopal::pool& pool) {
  T const of_value = co_await nopal::call(made_of_a_variable<T>, 7);
  auto future = pool.submit(made_of_a_variable<T>, 8);
  T const awaited = co_await future;
  co_return of_value.get() + 10 * awaited.get();
}
TYPED_TEST(hostile_values, are_awaited) { EXPECT_EQ(this->pool_.run(of_awaited<from_tasks<TypeParam>>, std::ref(this->pool_)), 87); }
TYPED_TEST(hostile_values, lie_in_eventually) {
  nopal::eventually<TypeParam> e;
  EXPECT_EQ(e.emplace(TypeParam::make(1)).get(), 1);
  EXPECT_EQ(e.emplace(TypeParam::make(2)).get(), 2);
  EXPECT_EQ((*e).get() + e->get() + (*std::as_const(e)).get(), 6);
  TypeParam const out = *std::move(e);
  EXPECT_EQ(out.get(), 2);
  if constexpr (std::is_copy_constructible_v<TypeParam>) {
    auto const constant = TypeParam::make(3);
    EXPECT_EQ(e.emplace(constant).get(), 3);
  }
}

template <class T>
nopal::task<long> by_value(T x) {
  co_return x.get();
}
template <class T>
nopal::task<long> of_arguments() {
  long forked = 0;
  long called = 0;
  co_await nopal::fork(&forked, by_value<T>, T::make(1));
  co_await nopal::call(&called, by_value<T>, T::make(2));
  co_await nopal::join;
  co_return forked + 10 * called;
}
TYPED_TEST(hostile_values, are_arguments) {
  using T = TypeParam;
  auto const plain = [](T const& x) { return x.get(); };
  EXPECT_EQ(this->pool_.run(plain, T::make(1)), 1);
  EXPECT_EQ(this->pool_.submit([](T x) { return x.get(); }, T::make(2)).get(), 2);
  EXPECT_EQ(this->pool_.submit([](T x) { return x.get(); }, T::make(3)).get(), 3);
  EXPECT_EQ(nopal::sync_wait(plain, T::make(4)), 4);
  if constexpr (alignof(T) <= 16) {  // a task's own arguments are stored in its frame
    EXPECT_EQ(this->pool_.run(by_value<T>, T::make(5)), 5);
    EXPECT_EQ(this->pool_.submit(by_value<T>, T::make(6)).get(), 6);
    EXPECT_EQ(this->pool_.run(of_arguments<T>), 21);
  }
  if constexpr (std::is_copy_constructible_v<T>) {
    auto const constant = T::make(7);
    EXPECT_EQ(this->pool_.run(plain, constant), 7);
    EXPECT_EQ(this->pool_.submit([](T x) { return x.get(); }, constant).get(), 7);
    EXPECT_EQ(constant.get(), 7);
  }
}
/// A callable that contains such a value, and is itself moved and copied.
TYPED_TEST(hostile_values, lie_in_callables) {
  using T = from_tasks<TypeParam>;  // and fibers take no closures that are
  std::atomic<long> sum{0};
  auto const with = [&](long n) { return [&sum, x = T::make(n)] { sum += x.get(); }; };
  this->pool_.run(with(1));
  this->pool_.submit(with(10)).get();
  nopal::counter left;
  this->pool_.run([&] {
    nopal::spawn(left, with(100));
    nopal::scope s;
    s.fork(with(1000));
    nopal::parallel_invoke(with(10'000), with(100'000));
    s.join();
    nopal::wait_for(left);
  });
  EXPECT_EQ(sum, 111'111);
  if constexpr (std::is_copy_constructible_v<T>) {
    auto named = with(1'000'000);
    this->pool_.submit(named).get();
    this->pool_.run(named);
    this->pool_.run([&] {
      nopal::spawn(left, named);
      nopal::scope s;
      s.fork(named);
      s.join();
      nopal::wait_for(left);
    });
    EXPECT_EQ(sum, 4'111'111);
  }
}

/// True only in a condition.
struct answer {
  bool yes;
  explicit operator bool() const { return yes; }
  void operator&() const = delete;
  template <class T>
  friend void operator,(answer const&, T&&) = delete;
};
TEST(explicit_answers, end_waits) {
  nopal::mutex m;
  nopal::condition_variable changed;
  std::unique_lock lock{m};
  changed.wait(lock, [] { return answer{true}; });
  EXPECT_TRUE(static_cast<bool>(changed.wait_for(lock, 1ms, [] { return answer{true}; })));
}

/// Copies that throw in a channel and on their way to a future: nothing is lost, and nothing is counted twice.
TEST(values_that_throw, leave_channels_as_they_were) {
  nopal::channel<throwing> ch{4};
  throwing const two{2};
  EXPECT_TRUE(ch.push(throwing{1}));
  throwing::left = 1;
  EXPECT_THROW(ch.push(two), throwing::failure);
  throwing::left = 1;
  EXPECT_THROW(ch.try_pop(), throwing::failure);
  throwing::left = 0;
  EXPECT_TRUE(ch.push(two));
  EXPECT_EQ(popped(ch.pop()), 1);
  EXPECT_EQ(popped(ch.pop()), 2);
  EXPECT_FALSE(ch.try_pop().has_value());
}
TEST(values_that_throw, reach_whoever_waits) {
  nopal::pool pool{{.workers = 2}};
  throwing const value{3};
  for (long at = 1; at <= 3; ++at) {
    bool threw = false;
    long got = 3;
    throwing::left = at;
    try {
      got = pool.submit([&] { return throwing{value}; }).get().get();
    } catch (throwing::failure const&) {
      threw = true;
    }
    throwing::left = 0;
    EXPECT_TRUE(threw || at > 1) << at;
    EXPECT_EQ(got, 3);
  }
}

}  // namespace
