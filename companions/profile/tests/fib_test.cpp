// fib in calls: the work is the number of calls, the span the depth of the recursion.

#include "in_calls.hpp"

namespace {

using nopal_test::call;
using nopal_test::in_calls;
using nopal_test::numbers;
using nopal_test::numbers_of;

constexpr int n = 16;
constexpr long fib_of_n = 987;
constexpr double calls_of_n = 3193;  // 2 fib(n + 1) - 1

NOPAL_TEST_ON_WORKERS(fib);

// ---- parallel_invoke.

long invoked(int k) {
  if (k < 2) return k;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = invoked(k - 1); }, [&] { b = invoked(k - 2); });
  return a + b;
}
numbers invoked_on_paper(int k) {
  call c;
  if (k >= 2) c.invoke(invoked_on_paper(k - 1), invoked_on_paper(k - 2));
  return c;
}

TEST_P(fib, by_parallel_invoke) {
  EXPECT_EQ(fib_of_n, nopal::pool{}.run(invoked, n));
  numbers const want = invoked_on_paper(n);
  EXPECT_EQ(calls_of_n, want.work);
  EXPECT_EQ(n, want.span);
  EXPECT_EQ(want, numbers_of(in_calls(GetParam(), invoked, n)));
}

// ---- Tasks.

nopal::task<long> tasks(int k) {
  if (k < 2) co_return k;
  long a = 0, b = 0;
  co_await nopal::fork(&a, tasks, k - 1);
  co_await nopal::call(&b, tasks, k - 2);
  co_await nopal::join;
  co_return a + b;
}
nopal::task<long> tasks_by_value(int k) {
  auto const self = [](int j) { return tasks_by_value(j); };
  if (k < 2) co_return k;
  long a = 0;
  co_await nopal::fork(&a, self, k - 1);
  long const b = co_await nopal::call(self, k - 2);
  co_await nopal::join;
  co_return a + b;
}
numbers tasks_on_paper(int k) {
  call c;
  if (k < 2) return c;
  c.fork(tasks_on_paper(k - 1));
  c.calls(tasks_on_paper(k - 2));
  c.join();
  return c;
}

TEST_P(fib, by_tasks) {
  numbers const want = tasks_on_paper(n);
  EXPECT_EQ(calls_of_n, want.work);
  EXPECT_EQ(n, want.span);
  EXPECT_EQ(want, numbers_of(in_calls(GetParam(), tasks, n)));
  EXPECT_EQ(want, numbers_of(in_calls(GetParam(), tasks_by_value, n)));
}

// ---- Scopes.

void scopes(int k, long& result) {
  if (k < 2) {
    result = k;
    return;
  }
  long a = 0, b = 0;
  nopal::scope s;
  s.fork([k, &a] { scopes(k - 1, a); });
  s.fork([k, &b] { scopes(k - 2, b); });
  s.join();
  result = a + b;
}
numbers scopes_on_paper(int k) {
  call c;
  if (k < 2) return c;
  c.fork(scopes_on_paper(k - 1));
  c.fork(scopes_on_paper(k - 2));
  c.join();
  return c;
}

TEST_P(fib, by_scopes) {
  numbers const want = scopes_on_paper(n);
  EXPECT_EQ(calls_of_n, want.work);
  EXPECT_EQ(n, want.span);
  long result = 0;
  EXPECT_EQ(want, numbers_of(in_calls(GetParam(), scopes, n, result)));
  EXPECT_EQ(fib_of_n, result);
}

// ---- Fibers.

void fibers(int k, long& result) {
  if (k < 2) {
    result = k;
    return;
  }
  long a = 0, b = 0;
  nopal::counter left;
  nopal::spawn(left, [k, &a] { fibers(k - 1, a); });
  nopal::spawn(left, [k, &b] { fibers(k - 2, b); });
  nopal::wait_for(left);
  result = a + b;
}
numbers fibers_on_paper(int k) {
  call c;
  if (k < 2) return c;
  c.spawn(fibers_on_paper(k - 1));
  c.spawn(fibers_on_paper(k - 2));
  c.join();
  return c;
}

TEST_P(fib, by_fibers) {
  numbers const want = fibers_on_paper(n);
  EXPECT_EQ(calls_of_n, want.work);
  EXPECT_EQ(n, want.span);
  long result = 0;
  EXPECT_EQ(want, numbers_of(in_calls(GetParam(), fibers, n, result)));
  EXPECT_EQ(fib_of_n, result);
}

}  // namespace
