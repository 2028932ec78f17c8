// Mergesort in calls: the work is 2n - 1, the span the number of levels.

#include <span>
#include <vector>

#include "in_calls.hpp"

namespace {

using nopal_test::call;
using nopal_test::in_calls;
using nopal_test::numbers;
using nopal_test::numbers_of;

NOPAL_TEST_ON_WORKERS(mergesort);

constexpr int n = 1000;
constexpr double work = 2 * n - 1;
constexpr double span = 11;

using items = std::span<int>;
items lower(items v) { return v.first(v.size() / 2); }
items upper(items v) { return v.subspan(v.size() / 2); }
void merge(items v) {
  std::vector<int> merged(v.size());
  std::merge(lower(v).begin(), lower(v).end(), upper(v).begin(), upper(v).end(), merged.begin());
  std::copy(merged.begin(), merged.end(), v.begin());
}

void by_invoke(items v) {
  if (v.size() < 2) return;
  nopal::parallel_invoke([v] { by_invoke(lower(v)); }, [v] { by_invoke(upper(v)); });
  merge(v);
}
numbers by_invoke_on_paper(int size) {
  call c;
  if (size >= 2) c.invoke(by_invoke_on_paper(size / 2), by_invoke_on_paper(size - size / 2));
  return c;
}

nopal::task<> by_tasks(items v) {
  if (v.size() < 2) co_return;
  co_await nopal::fork(by_tasks, lower(v));
  co_await nopal::call(by_tasks, upper(v));
  co_await nopal::join;
  merge(v);
}
numbers by_tasks_on_paper(int size) {
  call c;
  if (size < 2) return c;
  c.fork(by_tasks_on_paper(size / 2));
  c.calls(by_tasks_on_paper(size - size / 2));
  c.join();
  return c;
}

void by_scope(items v) {
  if (v.size() < 2) return;
  {
    nopal::scope s;  // its destructor joins
    s.fork([v] { by_scope(lower(v)); });
    s.fork([v] { by_scope(upper(v)); });
  }
  merge(v);
}
numbers by_scope_on_paper(int size) {
  call c;
  if (size < 2) return c;
  c.fork(by_scope_on_paper(size / 2));
  c.fork(by_scope_on_paper(size - size / 2));
  c.join();
  return c;
}

void by_fibers(items v) {
  if (v.size() < 2) return;
  nopal::counter left{1};
  nopal::spawn([v, &left] {  // a fiber that counts the counter down itself
    by_fibers(lower(v));
    left.done();
  });
  nopal::spawn(left, [v] { by_fibers(upper(v)); });
  nopal::wait_for(left);
  merge(v);
}
numbers by_fibers_on_paper(int size) {
  call c;
  if (size < 2) return c;
  c.spawn(by_fibers_on_paper(size / 2));
  c.spawn(by_fibers_on_paper(size - size / 2));
  c.join();
  return c;
}

template <class F>
void check(unsigned workers, numbers const& want, F f) {
  std::vector<int> v(n);
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = i * 7919 % n;
  EXPECT_EQ(work, want.work);
  EXPECT_EQ(span, want.span);
  EXPECT_EQ(want, numbers_of(in_calls(workers, f, items{v})));
  for (int i = 0; i < n; ++i) ASSERT_EQ(i, v[static_cast<std::size_t>(i)]);
}

TEST_P(mergesort, by_parallel_invoke) { check(GetParam(), by_invoke_on_paper(n), by_invoke); }
TEST_P(mergesort, by_tasks) { check(GetParam(), by_tasks_on_paper(n), by_tasks); }
TEST_P(mergesort, by_scopes) { check(GetParam(), by_scope_on_paper(n), by_scope); }
TEST_P(mergesort, by_fibers) { check(GetParam(), by_fibers_on_paper(n), by_fibers); }

}  // namespace
