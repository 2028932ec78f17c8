// Files that are compiled with NOPAL_PROFILE, and others without, in one program: each does what it did, and what is not
// measured has no numbers, or those of the procedure around it.

#include "in_calls.hpp"
#include "plain/part.hpp"

namespace {

using nopal_test::call;
using nopal_test::in_calls;
using nopal_test::numbers;
using nopal_test::numbers_of;

NOPAL_TEST_ON_WORKERS(mixed);

long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}
numbers fib_on_paper(int n) {
  call c;
  if (n >= 2) c.invoke(fib_on_paper(n - 1), fib_on_paper(n - 2));
  return c;
}

// A leaf of what is measured calls what is not.
nopal::task<long> leaves_are_plain(int n) {
  if (n < 4) co_return nopal_test::plain_fib(n + 4) + nopal_test::plain_tasks(n + 4);
  long a = 0, b = 0;
  co_await nopal::fork(&a, leaves_are_plain, n - 1);
  co_await nopal::call(&b, leaves_are_plain, n - 2);
  co_await nopal::join;
  co_return a + b;
}
numbers leaves_are_plain_on_paper(int n) {
  call c;
  if (n < 4) return c;
  c.fork(leaves_are_plain_on_paper(n - 1));
  c.calls(leaves_are_plain_on_paper(n - 2));
  c.join();
  return c;
}

TEST_P(mixed, a_plain_part_counts_as_nothing) {
  EXPECT_EQ(leaves_are_plain_on_paper(12), numbers_of(in_calls(GetParam(), leaves_are_plain, 12)));
}

// What a plain part calls back is measured where it was not stolen: then it belongs to the procedure around it.
TEST_P(mixed, a_plain_part_may_call_back) {
  long a = 0, b = 0, c = 0;
  auto const r = in_calls(GetParam(), [&] {
    nopal_test::plain_invoke([&] { a = fib(10); }, [&] { b = fib(11); });
    nopal_test::plain_fiber([&] { c = fib(12); });
  });
  EXPECT_EQ(55, a);
  EXPECT_EQ(89, b);
  EXPECT_EQ(144, c);
  numbers const first = fib_on_paper(10), both = fib_on_paper(11);
  EXPECT_GE(r.work, first.work);
  EXPECT_LE(r.work, first.work + both.work - 1);
}

TEST_P(mixed, a_plain_part_alone_is_as_it_was) {
  EXPECT_EQ(6765, nopal_test::plain_fib(20));
  EXPECT_EQ(6765, nopal_test::plain_tasks(20));
}

}  // namespace
