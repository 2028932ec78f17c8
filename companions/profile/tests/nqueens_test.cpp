// Queens in calls. Each call places one more: the tree of eight queens has 1 + 8 + 42 + 140 + 344 + 568 + 550 + 312 + 92 nodes, on nine
// levels.

#include <array>
#include <atomic>

#include "in_calls.hpp"

namespace {

using nopal_test::call;
using nopal_test::in_calls;
using nopal_test::numbers;
using nopal_test::numbers_of;

NOPAL_TEST_ON_WORKERS(nqueens);

constexpr int queens = 8;
constexpr double work = 2057;
constexpr double span = 9;
constexpr int solutions = 92;

struct board {
  std::array<signed char, queens> column{};
  int rows = 0;
  bool takes(int c) const {
    for (int r = 0; r < rows; ++r) {
      int const other = column[static_cast<std::size_t>(r)];
      if (other == c || other - c == rows - r || c - other == rows - r) return false;
    }
    return true;
  }
  board with(int c) const {
    board b{*this};
    b.column[static_cast<std::size_t>(b.rows++)] = static_cast<signed char>(c);
    return b;
  }
};

std::atomic<int> found{0};

nopal::task<> by_tasks(board b) {
  if (b.rows == queens) ++found;
  for (int c = 0; c < queens && b.rows < queens; ++c) {
    if (b.takes(c)) co_await nopal::fork(by_tasks, b.with(c));
  }
  co_await nopal::join;
}
void by_scope(board b) {
  if (b.rows == queens) ++found;
  nopal::scope s;
  for (int c = 0; c < queens && b.rows < queens; ++c) {
    if (b.takes(c)) s.fork([d = b.with(c)] { by_scope(d); });
  }
}
numbers by_forks_on_paper(board b) {
  call n;
  for (int c = 0; c < queens && b.rows < queens; ++c) {
    if (b.takes(c)) n.fork(by_forks_on_paper(b.with(c)));
  }
  n.join();
  return n;
}

void by_fibers(board b) {
  if (b.rows == queens) ++found;
  nopal::counter left;
  for (int c = 0; c < queens && b.rows < queens; ++c) {
    if (b.takes(c)) nopal::spawn(left, [d = b.with(c)] { by_fibers(d); });
  }
  nopal::wait_for(left);
}
numbers by_fibers_on_paper(board b) {
  call n;
  for (int c = 0; c < queens && b.rows < queens; ++c) {
    if (b.takes(c)) n.spawn(by_fibers_on_paper(b.with(c)));
  }
  n.join();
  return n;
}

// Two functions at a time, for the columns from `first` to `last`; at the end one column is tried.
void by_invoke(board b, int first, int last) {
  if (last - first > 1) {
    int const middle = (first + last) / 2;
    return nopal::parallel_invoke([=] { by_invoke(b, first, middle); }, [=] { by_invoke(b, middle, last); });
  }
  if (!b.takes(first)) return;
  board const next = b.with(first);
  if (next.rows < queens) return by_invoke(next, 0, queens);
  ++found;
}
numbers by_invoke_on_paper(board b, int first, int last) {
  call n;
  if (last - first > 1) {
    int const middle = (first + last) / 2;
    n.invoke(by_invoke_on_paper(b, first, middle), by_invoke_on_paper(b, middle, last));
    return n;
  }
  // The next row is not a call of its own: the function that places a queen continues there.
  return b.takes(first) && b.rows + 1 < queens ? by_invoke_on_paper(b.with(first), 0, queens) : numbers(n);
}

template <class F, class... A>
void check(unsigned workers, numbers const& want, F f, A... more) {
  found = 0;
  EXPECT_EQ(want, numbers_of(in_calls(workers, f, board{}, more...)));
  EXPECT_EQ(solutions, found);
}

TEST_P(nqueens, by_tasks) {
  EXPECT_EQ(work, by_forks_on_paper({}).work);
  EXPECT_EQ(span, by_forks_on_paper({}).span);
  check(GetParam(), by_forks_on_paper({}), by_tasks);
}
TEST_P(nqueens, by_scopes) { check(GetParam(), by_forks_on_paper({}), by_scope); }
TEST_P(nqueens, by_fibers) {
  EXPECT_EQ(work, by_fibers_on_paper({}).work);
  EXPECT_EQ(span, by_fibers_on_paper({}).span);
  check(GetParam(), by_fibers_on_paper({}), by_fibers);
}
TEST_P(nqueens, by_parallel_invoke) { check(GetParam(), by_invoke_on_paper({}, 0, queens), by_invoke, 0, queens); }

}  // namespace
