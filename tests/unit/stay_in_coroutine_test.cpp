// nopal::stay is for ordinary functions. In a coroutine it ends the program with a message, whatever the coroutine does after it; an
// ordinary function that a coroutine calls may have one.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "../scale.hpp"
#include "nopal/future.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scratch.hpp"
#include "nopal/stay.hpp"
#include "nopal/task.hpp"

namespace {

long fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}
nopal::task<long> child(long n) { co_return fib(n); }

// ---- What must end the program: each compiled as the compiler likes, so that the object is in the coroutine's frame, or in the native
// one.

nopal::task<long> awaits_nothing() {
  nopal::stay const here;
  co_return fib(5);
}
nopal::task<long> before_a_fork() {
  nopal::stay const here;
  long a = 0, b = 0;
  co_await nopal::fork(&a, child, 5);
  co_await nopal::call(&b, child, 5);
  co_await nopal::join;
  co_return a + b;
}
nopal::task<long> before_a_call() {
  nopal::stay const here;
  co_return co_await nopal::call(child, 5);
}
nopal::task<long> in_a_block() {
  long a = 0;
  {
    nopal::stay const here;
    a = fib(5);
  }
  co_return a + co_await nopal::call(child, 5);
}
nopal::task<long> between_fork_and_join() {
  long a = 0;
  co_await nopal::fork(&a, child, 5);
  {
    nopal::stay const here;
    static_cast<void>(fib(5));
  }
  co_await nopal::join;
  co_return a;
}
nopal::task<long> at_a_join() {
  long a = 0;
  co_await nopal::fork(&a, child, 5);
  nopal::stay const here;
  co_await nopal::join;
  co_return a;
}
nopal::task<long> before_a_future() {
  nopal::stay const here;
  auto f = nopal::pool::current()->submit(fib, 5);
  co_return co_await f;
}
nopal::task<long> before_a_move() {
  nopal::stay const here;
  co_await nopal::resume_on(nopal::pool::current()->worker(0));
  co_return 1;
}
nopal::task<long> before_scratch_memory() {
  nopal::stay const here;
  auto const numbers = co_await nopal::stack_array<long>(8);
  co_return static_cast<long>(numbers.size());
}
nopal::task<long> for_one_expression() { co_return (static_cast<void>(nopal::stay{}), fib(5)); }
nopal::task<long> on_the_heap() {
  auto const here = std::make_unique<nopal::stay>();
  co_return fib(5);
}
template <class T>
nopal::task<T> in_a_template(T n) {
  nopal::stay const here;
  co_return fib(n);
}
nopal::task<long> of_a_template() { co_return co_await nopal::call(in_a_template<long>, 5L); }
nopal::task<long> of_a_lambda_that_waits() {
  auto const coroutine = []() -> nopal::task<long> {
    nopal::stay const here;
    co_return co_await nopal::call(child, 5);
  };
  co_return co_await nopal::call(coroutine);
}
nopal::task<long> in_an_optional_across_a_call() {
  std::optional<nopal::stay> here;
  here.emplace();
  co_return co_await nopal::call(child, 5);
}

::nopal::task<long> named_from_outside() {
  nopal::stay const here;
  co_return fib(5);
}
struct of_a_class {
  static nopal::task<long> function() {
    nopal::stay const here;
    co_return fib(5);
  }
};
nopal::task<long> of_a_static_member() { co_return co_await nopal::call(of_a_class::function); }

struct form {
  char const* name;
  nopal::task<long> (*function)();
};
class stay_in_a_coroutine : public testing::TestWithParam<form> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, test::death_test_style()); }
};

TEST_P(stay_in_a_coroutine, ends_the_program) {
  EXPECT_DEATH((nopal::pool{{.workers = 2}}.run(GetParam().function)),
               "nopal: a nopal::stay was made in a coroutine, or on the heap; make one in an ordinary function that the task calls");
}

#define NOPAL_TEST_FORM(f) \
  form { #f, f }
INSTANTIATE_TEST_SUITE_P(each, stay_in_a_coroutine,
                         testing::Values(NOPAL_TEST_FORM(awaits_nothing), NOPAL_TEST_FORM(before_a_fork), NOPAL_TEST_FORM(before_a_call),
                                         NOPAL_TEST_FORM(in_a_block), NOPAL_TEST_FORM(between_fork_and_join), NOPAL_TEST_FORM(at_a_join),
                                         NOPAL_TEST_FORM(before_a_future), NOPAL_TEST_FORM(before_a_move),
                                         NOPAL_TEST_FORM(before_scratch_memory), NOPAL_TEST_FORM(for_one_expression),
                                         NOPAL_TEST_FORM(on_the_heap), NOPAL_TEST_FORM(of_a_template),
                                         NOPAL_TEST_FORM(of_a_lambda_that_waits), NOPAL_TEST_FORM(in_an_optional_across_a_call),
                                         NOPAL_TEST_FORM(named_from_outside), NOPAL_TEST_FORM(of_a_static_member)),
                         [](auto const& f) { return std::string{f.param.name}; });

// ---- What must not end it.

long stays(long n) {
  nopal::stay const here;
  return fib(n);
}
inline long stays_inlined(long n) {
  nopal::stay const here;
  return fib(n);
}
struct staying {  // a member of a guard of the program's own
  nopal::stay here;
};
nopal::task<long>* returns_a_pointer_to_a_task() {
  staying const guard;
  static_cast<void>(fib(5));
  return nullptr;
}
namespace other {  // a library that has tasks too
template <class T>
struct task {
  T result;
};
task<long> makes_one() {
  nopal::stay const here;
  return {fib(5)};
}
}  // namespace other

nopal::task<long> calls_functions() {
  long a = 0;
  co_await nopal::fork(&a, child, 5);
  long const b = stays(5) + stays_inlined(5);
  long const c = [] {
    nopal::stay const here;
    return fib(5);
  }();
  co_await nopal::join;
  co_return a + b + c + (returns_a_pointer_to_a_task() == nullptr);
}

TEST(stay_in_a_function, that_a_coroutine_calls) {
  for (unsigned const workers : {1u, 2u}) {
    nopal::pool pool{{.workers = workers}};
    for (int k = 0; k < 10; ++k) EXPECT_EQ(pool.run(calls_functions), 21);
    EXPECT_EQ(pool.run(stays, 5), 5);
    EXPECT_EQ(pool.run(other::makes_one).result, 5);
  }
  EXPECT_EQ(stays(5), 5);
}

}  // namespace
