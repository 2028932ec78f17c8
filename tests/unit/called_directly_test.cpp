// A task's function that is called like an ordinary one. Assertions are on here in every build: then it is always detected.
// Needs the companion simulation.
#undef NDEBUG
#include <gtest/gtest.h>

#include <nopal/nopal.hpp>
#include <vector>

namespace {

nopal::task<int> three() { co_return 3; }
nopal::task<int> three_hundred() { co_return 300; }
nopal::task<> nothing() { co_return; }

nopal::task<> calls_at_once() {
  static_cast<void>(three_hundred());
  co_return;
}
nopal::task<int> calls_after_a_child() {
  int n = 0;
  co_await nopal::call(&n, three);
  static_cast<void>(three_hundred());  // would go to n
  co_return n;
}
nopal::task<int> calls_between_fork_and_join() {
  int n = 0;
  co_await nopal::fork(&n, three);
  static_cast<void>(nothing());
  co_await nopal::join;
  co_return n;
}
void calls_in_a_function() { static_cast<void>(three_hundred()); }

constexpr char const* message = "nopal: a task's function was called directly on a worker.*co_await nopal::call.*nopal::sync_wait";

TEST(called_directly, in_a_task) {
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run(calls_at_once), message);
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run(calls_after_a_child), message);
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run(calls_between_fork_and_join), message);
}
TEST(called_directly, in_a_function_on_a_worker) {
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run(calls_in_a_function), message);
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run([] {
    static_cast<void>(nopal::sync_wait(three));
    calls_in_a_function();
  }),
               message);
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run([] {
    nopal::counter left;
    nopal::spawn(left, calls_in_a_function);
    nopal::wait_for(left);
  }),
               message);
  EXPECT_DEATH(nopal::pool{{.workers = 2}}.run([] { nopal::parallel_invoke(calls_in_a_function, [] {}); }), message);
}
TEST(called_directly, off_a_pool) { EXPECT_DEATH(calls_in_a_function(), "nopal: a task's function was called directly outside a pool"); }

// A call through another callable that starts a task is allowed.
TEST(called_directly, is_not_said_of_a_callable_that_passes_it_on) {
  auto pass_on = [](int) { return three(); };
  nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_always}};
  EXPECT_EQ(pool.run(pass_on, 1), 3);
  pool.run([&]() -> nopal::task<> {
    int a = 0;
    int b = 0;
    co_await nopal::fork(&a, pass_on, 1);
    co_await nopal::call(&b, pass_on, 1);
    co_await nopal::join;
    EXPECT_EQ(a + b, 6);
  });
}

}  // namespace
