// A product of matrices by halves, in calls: 8 products of half the size, in two rounds of four. For matrices of 2^k rows the work is
// (8^(k+1) - 1) / 7, and the span 2^(k+1) - 1.

#include <vector>

#include "in_calls.hpp"

namespace {

using nopal_test::call;
using nopal_test::in_calls;
using nopal_test::numbers;
using nopal_test::numbers_of;

NOPAL_TEST_ON_WORKERS(matmul);

constexpr int rows = 8;
constexpr double work = (8 * 8 * 8 * 8 - 1) / 7;
constexpr double span = 2 * rows - 1;

/// A square part of a matrix.
struct part {
  long* first;
  int size;
  part quarter(int down, int right) const { return {first + (down * rows + right) * (size / 2), size / 2}; }
};
struct product {
  part a, b, c;
};
// The product of the quarters in row i, column j, of the kth round.
product quarter(product const& p, int i, int j, int k) { return {p.a.quarter(i, k), p.b.quarter(k, j), p.c.quarter(i, j)}; }

void by_invoke(product p) {
  if (p.c.size == 1) {
    *p.c.first += *p.a.first * *p.b.first;
    return;
  }
  for (int k = 0; k < 2; ++k) {
    nopal::parallel_invoke([=] { by_invoke(quarter(p, 0, 0, k)); }, [=] { by_invoke(quarter(p, 0, 1, k)); },
                           [=] { by_invoke(quarter(p, 1, 0, k)); }, [=] { by_invoke(quarter(p, 1, 1, k)); });
  }
}
numbers by_invoke_on_paper(int size) {
  call c;
  for (int k = 0; k < 2 && size > 1; ++k) {
    numbers const half = by_invoke_on_paper(size / 2);
    c.invoke(half, half, half, half);
  }
  return c;
}

nopal::task<> by_tasks(product p) {
  if (p.c.size == 1) {
    *p.c.first += *p.a.first * *p.b.first;
    co_return;
  }
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < 4; ++i) co_await nopal::fork(by_tasks, quarter(p, i / 2, i % 2, k));
    co_await nopal::join;
  }
}
void by_scope(product p) {
  if (p.c.size == 1) {
    *p.c.first += *p.a.first * *p.b.first;
    return;
  }
  nopal::scope s;
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < 4; ++i) s.fork([=] { by_scope(quarter(p, i / 2, i % 2, k)); });
    s.join();
  }
}
numbers by_forks_on_paper(int size) {
  call c;
  for (int k = 0; k < 2 && size > 1; ++k) {
    for (int i = 0; i < 4; ++i) c.fork(by_forks_on_paper(size / 2));
    c.join();
  }
  return c;
}

void by_fibers(product p) {
  if (p.c.size == 1) {
    *p.c.first += *p.a.first * *p.b.first;
    return;
  }
  for (int k = 0; k < 2; ++k) {
    nopal::counter left;
    for (int i = 0; i < 4; ++i) nopal::spawn(left, [=] { by_fibers(quarter(p, i / 2, i % 2, k)); });
    nopal::wait_for(left);
  }
}
numbers by_fibers_on_paper(int size) {
  call c;
  for (int k = 0; k < 2 && size > 1; ++k) {
    for (int i = 0; i < 4; ++i) c.spawn(by_fibers_on_paper(size / 2));
    c.join();
  }
  return c;
}

template <class F>
void check(unsigned workers, numbers const& want, F f) {
  std::vector<long> a(rows * rows), b(rows * rows), c(rows * rows);
  for (int i = 0; i < rows * rows; ++i) {
    a[static_cast<std::size_t>(i)] = i;
    b[static_cast<std::size_t>(i)] = i % rows == i / rows ? 3 : 0;
  }
  EXPECT_EQ(work, want.work);
  EXPECT_EQ(span, want.span);
  EXPECT_EQ(want, numbers_of(in_calls(workers, f, product{{a.data(), rows}, {b.data(), rows}, {c.data(), rows}})));
  for (int i = 0; i < rows * rows; ++i) ASSERT_EQ(3 * i, c[static_cast<std::size_t>(i)]);
}

TEST_P(matmul, by_parallel_invoke) { check(GetParam(), by_invoke_on_paper(rows), by_invoke); }
TEST_P(matmul, by_tasks) { check(GetParam(), by_forks_on_paper(rows), by_tasks); }
TEST_P(matmul, by_scopes) { check(GetParam(), by_forks_on_paper(rows), by_scope); }
TEST_P(matmul, by_fibers) { check(GetParam(), by_fibers_on_paper(rows), by_fibers); }

}  // namespace
