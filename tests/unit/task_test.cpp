// fork, call and join: results, arguments, callables, depth and width, on pools of every kind.

#include "nopal/task.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "../on_pools.hpp"
#include "../scale.hpp"
#include "nopal/eventually.hpp"
#include "nopal/pool.hpp"

namespace {

using nopal::call;
using nopal::eventually;
using nopal::fork;
using nopal::join;
using nopal::task;

/// Runs on pools of 1, 2, 3 and 8 workers, lazy and busy, and on one that does not steal.
template <class F>
void on_every_pool(F&& f) {
  test::on_lazy_and_busy_pools(f);
  SCOPED_TRACE("3 workers that do not steal");
  nopal::pool pool{{.workers = 3, .steal = false}};
  f(pool);
}

task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await fork(&a, fib, n - 1);
  co_await call(&b, fib, n - 2);
  co_await join;
  co_return a + b;
}

/// Ends when `flag` is set, which its parent does after the fork: only a thief can make the parent go on.
task<> wait_until(std::atomic<bool>& flag) {
  while (!flag.load()) std::this_thread::yield();
  co_return;
}

// ---- Results.

TEST(task, gives_exact_results_on_every_pool) {
  on_every_pool([](nopal::pool& pool) {
    for (int k = 0; k < 20; ++k) ASSERT_EQ(pool.run(fib, 18), 2584);
  });
}

task<long> fib_by_value(long n) {
  if (n < 2) co_return n;
  long a = 0;
  co_await fork(&a, fib_by_value, n - 1);
  long const b = co_await call(fib_by_value, n - 2);
  co_await join;
  co_return a + b;
}

TEST(task, call_without_a_slot_is_an_expression) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(fib_by_value, 16), 987); });
}

task<int> add_to(std::atomic<int>& sum, int n) {
  sum += n;
  co_return n;
}
task<std::string> shout(std::atomic<int>& sum) {
  sum += 1000;
  co_return std::string(100, '!');
}
task<int> drops_results() {
  std::atomic<int> sum{0};
  co_await fork(add_to, sum, 1);
  co_await fork(shout, sum);
  co_await call(add_to, sum, 10);
  co_await fork(add_to, sum, 100);
  co_await call(shout, sum);
  co_await join;
  co_return sum.load();
}

TEST(task, results_nobody_wants_are_dropped) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(drops_results), 2111); });
}

struct no_default {
  explicit no_default(int n) : value{n} {}
  int value;
};
task<no_default> make_no_default(int n) { co_return no_default{n}; }
task<int> uses_eventually() {
  eventually<no_default> a, b;
  co_await fork(&a, make_no_default, 1);
  co_await call(&b, make_no_default, 20);
  co_await join;
  no_default const c = co_await call(make_no_default, 300);
  co_return a->value + (*b).value + c.value;
}

TEST(task, results_need_no_default_constructor) {
  on_every_pool([](nopal::pool& pool) {
    EXPECT_EQ(pool.run(uses_eventually), 321);
    EXPECT_EQ(pool.run(make_no_default, 7).value, 7);
  });
}

task<std::unique_ptr<int>> make_unique(int n) { co_return std::make_unique<int>(n); }
task<int> uses_move_only() {
  std::unique_ptr<int> a;
  eventually<std::unique_ptr<int>> b;
  co_await fork(&a, make_unique, 1);
  co_await fork(&b, make_unique, 20);
  std::unique_ptr<int> const c = co_await call(make_unique, 300);
  co_await join;
  co_return *a + **b + *c;
}

TEST(task, results_may_be_move_only) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(uses_move_only), 321); });
}

task<int&> pick(int& a, int& b, bool first) { co_return first ? a : b; }
task<bool> uses_references() {
  int a = 1, b = 2;
  int* first = nullptr;
  co_await fork(&first, pick, a, b, true);
  int& second = co_await call(pick, a, b, false);
  co_await join;
  second = 20;
  co_return first == &a && b == 20;
}

TEST(task, results_may_be_references) {
  on_every_pool([](nopal::pool& pool) {
    EXPECT_TRUE(pool.run(uses_references));
    int a = 1, b = 2;
    EXPECT_EQ(&pool.run(pick, a, b, false), &b);
  });
}

struct big {
  std::array<std::uint64_t, 100> words{};
};
task<big> make_big(std::uint64_t n) {
  big b;
  for (std::size_t i = 0; i < b.words.size(); ++i) b.words[i] = n + i;
  co_return b;
}
task<std::string> repeat(std::string text, int n) {
  if (n == 0) co_return std::string{};
  std::string rest;
  co_await fork(&rest, repeat, text, n - 1);
  co_await join;
  co_return text + rest;
}
task<bool> uses_big_results() {
  big a, b;
  std::string s;
  co_await fork(&a, make_big, std::uint64_t{1});
  co_await fork(&s, repeat, "a string longer than fits inside ", 20);
  co_await call(&b, make_big, std::uint64_t{1000});
  co_await join;
  co_return a.words[99] == 100 && b.words[0] == 1000 && b.words[99] == 1099 && s.size() == 33 * 20;
}

TEST(task, results_may_be_big) {
  on_every_pool([](nopal::pool& pool) { EXPECT_TRUE(pool.run(uses_big_results)); });
}

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
  co_return a.value == 5 && b.value == 6 && at == &a && at_b == &b && of_temporary != nullptr;
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

/// Waits until its parent, which has gone on, has changed the variable that `n` and `s` were copied from.
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

// ---- Scopes.

task<long> joins_often(long n) {
  long total = 0;
  for (long k = 0; k < n; ++k) {
    long a = 0, b = 0;
    co_await fork(&a, fib, k % 10);
    co_await fork(&b, fib, k % 7);
    co_await join;
    total += a * 3 + b;
  }
  co_await join;
  co_return total;
}
long joins_often_serially(long n) {
  constexpr std::array<long, 10> fibs{0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
  long total = 0;
  for (long k = 0; k < n; ++k) total += fibs[static_cast<std::size_t>(k % 10)] * 3 + fibs[static_cast<std::size_t>(k % 7)];
  return total;
}

TEST(task, may_have_many_scopes) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(joins_often, 300), joins_often_serially(300)); });
}

task<int> joins_without_forks() {
  co_await join;
  co_await join;
  co_return 1;
}

TEST(task, join_without_forks_goes_on) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(joins_without_forks), 1); });
}

task<int> is_stolen_before_a_call() {
  std::atomic<bool> gone_on{false};
  int a = 0, b = 0;
  co_await fork(&a, [](std::atomic<bool>& flag) -> task<int> {
    co_await call(wait_until, flag);
    co_return 1;
  }, gone_on);
  co_await call(&b, [](int n) -> task<int> { co_return n; }, 20);
  int const c = co_await call(add_to, *std::make_unique<std::atomic<int>>(0), 300);
  gone_on = true;
  co_await join;
  co_return a + b + c;
}

TEST(task, a_stolen_task_may_call_before_it_joins) {
  nopal::pool pool{{.workers = 2}};
  for (int k = 0; k < 200; ++k) ASSERT_EQ(pool.run(is_stolen_before_a_call), 321);
}

task<> is_stolen_in_every_scope(int scopes) {
  for (int k = 0; k < scopes; ++k) {
    std::atomic<bool> gone_on{false};
    co_await fork(wait_until, gone_on);
    gone_on = true;
    co_await join;
  }
}

TEST(task, may_be_stolen_in_every_scope) {
  nopal::pool pool{{.workers = 2}};
  pool.run(is_stolen_in_every_scope, 300);
  EXPECT_GE(pool.stats().steals, 300u);
}

task<> sees_its_worker(unsigned home, int depth, std::atomic<int>& elsewhere) {
  if (nopal::this_worker::index() != home) ++elsewhere;
  if (depth == 0) co_return;
  co_await fork(sees_its_worker, home, depth - 1, elsewhere);
  if (nopal::this_worker::index() != home) ++elsewhere;
  co_await call(sees_its_worker, home, depth - 1, elsewhere);
  co_await join;
  if (nopal::this_worker::index() != home) ++elsewhere;
}

TEST(task, stays_on_its_worker_without_stealing) {
  nopal::pool pool{{.workers = 3, .steal = false}};
  std::atomic<int> elsewhere{0};
  pool.run([&]() -> task<> { co_await call(sees_its_worker, nopal::this_worker::index(), 14, elsewhere); });
  EXPECT_EQ(elsewhere.load(), 0);
  EXPECT_EQ(pool.stats().steals, 0u);
}

// ---- Depth and width.

task<long> chain_of_forks(long n) {
  if (n == 0) co_return 0;
  long below = 0;
  co_await fork(&below, chain_of_forks, n - 1);
  co_await join;
  co_return below + 1;
}
task<long> chain_of_calls(long n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await call(chain_of_calls, n - 1);
}
task<long> chain_of_both(long n, std::string unused) {
  if (n == 0) co_return 0;
  long below = 0;
  if (n % 3 == 0) {
    co_await call(&below, chain_of_both, n - 1, unused);
  } else {
    co_await fork(&below, chain_of_both, n - 1, unused);
    co_await join;
  }
  co_return below + 1;
}
constexpr long deep = test::scaled(1'000'000, 10);

TEST(task, a_million_forks_may_nest) {
  nopal::pool pool;
  EXPECT_EQ(pool.run(chain_of_forks, deep), deep);
  EXPECT_EQ(pool.submit(chain_of_forks, deep).get(), deep);
}

TEST(task, a_million_calls_may_nest) {
  nopal::pool pool;
  EXPECT_EQ(pool.run(chain_of_calls, deep), deep);
  EXPECT_EQ(pool.submit(chain_of_calls, deep).get(), deep);
}

TEST(task, deep_nesting_keeps_its_arguments) {
  on_every_pool([](nopal::pool& pool) {
    std::string const long_text(100, 'x');
    EXPECT_EQ(pool.run(chain_of_both, test::scaled(50'000), long_text), test::scaled(50'000));
  });
}

/// Runs f on a thread with a stack of so many bytes.
void on_a_stack_of(std::size_t bytes, std::function<void()> f) {
  pthread_attr_t a;
  ASSERT_EQ(pthread_attr_init(&a), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&a, bytes), 0);
  pthread_t thread;
  auto const body = [](void* arg) -> void* {
    (*static_cast<std::function<void()>*>(arg))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &a, body, &f), 0);
  pthread_attr_destroy(&a);
  pthread_join(thread, nullptr);
}

TEST(task, nesting_asks_little_of_the_callers_stack) {
  nopal::pool pool;
  for (std::size_t const kib : {128u, 256u, 512u}) {
    on_a_stack_of(kib * 1024, [&] {
      EXPECT_EQ(pool.run(chain_of_forks, deep), deep);
      EXPECT_EQ(pool.run(chain_of_calls, deep), deep);
    });
  }
}

task<> add(std::atomic<long>& sum, long n) {
  sum.fetch_add(n, std::memory_order_relaxed);
  co_return;
}
task<long> flat(long n) {
  std::atomic<long> sum{0};
  for (long k = 1; k <= n; ++k) co_await fork(add, sum, k);
  co_await join;
  co_return sum.load();
}

TEST(task, ten_million_forks_in_one_scope_are_all_joined) {
  constexpr long n = test::scaled(10'000'000, 50);
  nopal::pool pool{{.workers = 3, .idle = nopal::idle::busy}};
  EXPECT_EQ(pool.run(flat, n), n * (n + 1) / 2);
}

}  // namespace
