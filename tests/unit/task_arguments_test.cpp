// fork and call: callables and arguments, on pools of every kind.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "nopal/pool.hpp"
#include "nopal/task.hpp"
#include "on_every_pool.hpp"

namespace {

using nopal::call;
using nopal::fork;
using nopal::join;
using nopal::task;
using test::on_every_pool;

// ---- Callables.

struct counter {
  std::atomic<int> value{0};
  task<int> add(int n) {
    value += n;
    co_return n;
  }
  task<int> get() const { co_return value.load(); }
};
task<int> uses_members() {
  counter c;
  int a = 0;
  co_await fork(&a, &counter::add, c, 1);
  co_await fork(&counter::add, c, 20);
  co_await call(&counter::add, c, 300);
  co_await join;
  co_return a * 1000 + co_await call(&counter::get, c);
}

TEST(task, member_functions_are_called_on_the_callers_object) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(uses_members), 1321); });
}

task<int> uses_closures() {
  std::atomic<int> sum{0};
  auto const add = [&sum](int n) -> task<> {
    sum += n;
    co_return;
  };
  int a = 0;
  co_await fork(add, 1);
  co_await fork(add, 20);
  co_await fork(&a, [](int n) -> task<int> { co_return n + n; }, 2);
  int const b = co_await call([&](int n) -> task<int> { co_return sum.load() * 0 + n; }, 5);
  co_await join;
  co_return sum.load() * 100 + a * 10 + b;
}

TEST(task, named_closures_and_captureless_temporaries_are_forked) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(uses_closures), 2145); });
}

task<long> uses_recursive_closure() {
  auto const sum = [](auto self, long n) -> task<long> {
    if (n == 0) co_return 0;
    long rest = 0;
    co_await fork(&rest, self, self, n - 1);
    co_await join;
    co_return n + rest;
  };
  co_return co_await call(sum, sum, 100L);
}

TEST(task, a_generic_closure_may_be_handed_itself) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(uses_recursive_closure), 5050); });
}

// ---- Arguments.

struct uncopyable {
  uncopyable() = default;
  uncopyable(uncopyable const&) = delete;
  uncopyable& operator=(uncopyable const&) = delete;
  int value = 0;
};
task<> set(uncopyable& u, int n) {
  u.value = n;
  co_return;
}
task<uncopyable const*> address_of(uncopyable const& u) { co_return &u; }
task<bool> uses_reference_arguments() {
  uncopyable a, b;
  uncopyable const* at = nullptr;
  uncopyable const* at_b = nullptr;
  co_await fork(set, a, 5);
  co_await fork(set, std::ref(b), 6);
  co_await fork(&at, address_of, a);
  co_await fork(&at_b, address_of, std::cref(b));
  co_await join;
  uncopyable const* const of_temporary = co_await call(address_of, uncopyable{});
  co_return a.value == 5 && b.value == 6 && at == &a&& at_b == &b&& of_temporary != nullptr;
}

TEST(task, reference_parameters_are_the_callers_objects) {
  on_every_pool([](nopal::pool& pool) { EXPECT_TRUE(pool.run(uses_reference_arguments)); });
}

task<long> length(std::string const& s) { co_return static_cast<long>(s.size()); }
task<long> length_of_view(std::string_view s) { co_return static_cast<long>(s.size()); }
task<long> uses_converted_arguments() {
  long view = 0;
  std::string const text = "four";
  co_await fork(&view, length_of_view, text);
  long const converted = co_await call(length, "seventy");
  long const temporary = co_await call(length_of_view, std::string(20, 'x'));
  co_await join;
  co_return view * 10000 + converted * 100 + temporary;
}

TEST(task, a_called_child_may_refer_to_temporaries) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(uses_converted_arguments), 40720); });
}

/// Waits until its parent, which has continued, has changed the variable that `n` and `s` were copied from.
task<bool> kept(int n, std::string s, std::atomic<bool>& changed) {
  while (!changed.load()) std::this_thread::yield();
  co_return n == 1 && s == "before, and too long to fit inside a string";
}
task<bool> changes_its_variables_after_the_fork() {
  int n = 1;
  std::string s = "before, and too long to fit inside a string";
  std::atomic<bool> changed{false};
  bool same = false;
  co_await fork(&same, kept, n, s, changed);
  n = 2;
  s = "after";
  changed = true;
  co_await join;
  co_return same;
}

TEST(task, value_arguments_are_copied_at_the_fork) {
  nopal::pool pool{{.workers = 2}};
  for (int k = 0; k < 100; ++k) ASSERT_TRUE(pool.run(changes_its_variables_after_the_fork));
}

task<int> consume(std::unique_ptr<int> p, std::vector<int> v) { co_return *p + static_cast<int>(v.size()); }
task<int> uses_move_only_arguments() {
  int a = 0;
  auto p = std::make_unique<int>(1);
  std::vector<int> v(20);
  co_await fork(&a, consume, std::move(p), std::move(v));
  int const b = co_await call(consume, std::make_unique<int>(300), std::vector<int>{});
  co_await join;
  co_return a + b + (p == nullptr ? 0 : 1000) + static_cast<int>(v.size());  // NOLINT(bugprone-use-after-move)
}

TEST(task, move_only_arguments_are_moved_into_the_child) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(uses_move_only_arguments), 321); });
}

/// Counts its living instances.
struct counted {
  explicit counted(std::atomic<int>& n) : living{&n} { ++*living; }
  counted(counted const& o) : living{o.living} { ++*living; }
  counted& operator=(counted const&) = default;
  ~counted() { --*living; }
  std::atomic<int>* living;
};
task<int> count_down(counted c, int n) {
  if (n == 0) co_return 0;
  int a = 0, b = 0;
  co_await fork(&a, count_down, c, n - 1);
  co_await call(&b, count_down, c, n - 1);
  co_await join;
  co_return a + b + 1;
}

TEST(task, every_copy_of_an_argument_is_destroyed) {
  on_every_pool([](nopal::pool& pool) {
    std::atomic<int> living{0};
    EXPECT_EQ(pool.run(count_down, counted{living}, 10), 1023);
    EXPECT_EQ(living.load(), 0);
  });
}

}  // namespace
