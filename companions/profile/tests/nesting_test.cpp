// Front ends within each other, jobs, exceptions and regions, in calls.

#include <future>
#include <stdexcept>
#include <thread>

#include "in_calls.hpp"

namespace {

using nopal_test::call;
using nopal_test::in_calls;
using nopal_test::numbers;
using nopal_test::numbers_of;

NOPAL_TEST_ON_WORKERS(nesting);

// ---- Each front end calls the next.

void by_fibers(int depth);
nopal::task<> by_tasks(int depth) {
  for (int i = 0; i < 2 && depth > 0; ++i) co_await nopal::fork(by_tasks, depth - 1);
  if (depth > 0) {
    nopal::parallel_invoke([=] { by_fibers(depth - 1); }, [=] { by_fibers(depth - 1); }, [] {});
    co_await nopal::call(by_tasks, depth - 1);
  }
  co_await nopal::join;
}
void by_scope(int depth) {
  nopal::scope s;
  for (int i = 0; i < 3 && depth > 0; ++i) {
    s.fork([=] { nopal::sync_wait(by_tasks, depth - 1); });
  }
  if (depth > 0) by_scope(depth - 1);
}
void by_fibers(int depth) {
  if (depth == 0) return;
  nopal::counter left;
  nopal::spawn(left, [=] { by_scope(depth - 1); });
  nopal::spawn(left, [=] { nopal::pool::current()->run(by_tasks, depth - 1); });
  auto later = nopal::pool::current()->submit(by_scope, depth - 1);
  nopal::wait_for(left);
  later.get();
}

// A function of an ordinary call adds to its caller.
numbers fibers_on_paper(int depth);
numbers tasks_on_paper(int depth) {
  call c;
  if (depth == 0) return c;
  for (int i = 0; i < 2; ++i) c.fork(tasks_on_paper(depth - 1));
  call around;
  around.invoke(fibers_on_paper(depth - 1), fibers_on_paper(depth - 1), call{});
  numbers n = around;
  c.calls({n.work - 1, n.span - 1, n.burdened - 1});
  c.calls(tasks_on_paper(depth - 1));
  c.join();
  return c;
}
numbers scope_on_paper(int depth) {
  call c;
  if (depth == 0) return c;
  for (int i = 0; i < 3; ++i) {
    call waits;
    waits.calls(tasks_on_paper(depth - 1));
    c.fork(waits);
  }
  numbers const n = scope_on_paper(depth - 1);
  c.calls({n.work - 1, n.span - 1, n.burdened - 1});
  c.join();
  return c;
}
numbers fibers_on_paper(int depth) {
  call c;
  if (depth == 0) return c;
  c.spawn(scope_on_paper(depth - 1));
  call runs;
  runs.calls(tasks_on_paper(depth - 1));
  c.spawn(runs);
  c.spawn(scope_on_paper(depth - 1));
  c.join();
  return c;
}

TEST_P(nesting, of_all_front_ends) {
  EXPECT_EQ(tasks_on_paper(4), numbers_of(in_calls(GetParam(), by_tasks, 4)));
  EXPECT_EQ(scope_on_paper(4), numbers_of(in_calls(GetParam(), by_scope, 4)));
  EXPECT_EQ(fibers_on_paper(4), numbers_of(in_calls(GetParam(), by_fibers, 4)));
}

// ---- Exceptions: all children run here, on any schedule, since none throws before others are forked.

nopal::task<int> throwing_task(int depth) {
  if (depth == 0) throw std::runtime_error{"a leaf"};
  int a = 0, b = 0, failed = 0;
  try {
    co_await nopal::fork(&a, throwing_task, depth - 1);
    co_await nopal::call(&b, throwing_task, depth - 1);
    co_await nopal::join;
  } catch (std::runtime_error const&) {
    ++failed;
  }
  co_await nopal::fork(&a, [](int n) -> nopal::task<int> { co_return n; }, failed);
  co_await nopal::join;
  co_return a;
}
numbers throwing_task_on_paper(int depth) {
  call c;
  if (depth == 0) return c;
  c.fork(throwing_task_on_paper(depth - 1));
  c.calls(throwing_task_on_paper(depth - 1));
  c.join();
  c.fork(call{});
  c.join();
  return c;
}

void throwing_functions(int depth) {
  if (depth == 0) throw std::runtime_error{"a leaf"};
  try {
    nopal::parallel_invoke([=] {}, [=] { throwing_functions(depth - 1); });
  } catch (std::runtime_error const&) {
  }
  try {
    nopal::scope s;
    s.fork([=] { throwing_functions(depth - 1); });
    s.fork([=] { throwing_functions(depth - 1); });
    s.join();
  } catch (std::runtime_error const&) {
  }
  try {
    nopal::counter left;
    nopal::spawn(left, [=] { throwing_functions(depth - 1); });
    nopal::wait_for(left);
  } catch (std::runtime_error const&) {
  }
}
numbers throwing_functions_on_paper(int depth) {
  call c;
  if (depth == 0) return c;
  numbers const less = throwing_functions_on_paper(depth - 1);
  c.invoke(call{}, less);
  c.fork(less);
  c.fork(less);
  c.join();
  c.spawn(less);
  c.join();
  return c;
}

TEST_P(nesting, with_exceptions) {
  EXPECT_EQ(throwing_task_on_paper(5), numbers_of(in_calls(GetParam(), throwing_task, 5)));
  EXPECT_EQ(throwing_functions_on_paper(4), numbers_of(in_calls(GetParam(), throwing_functions, 4)));
}

// ---- A task moves to another worker, waits on its stack and uses scratch memory: it continues along its path.

nopal::task<> waits(int depth) {
  if (depth == 0) co_return;
  nopal::counter c;
  co_await nopal::fork(waits, depth - 1);
  nopal::spawn(c, [=] { by_scope(depth); });
  co_await c.reaches(0);
  nopal::yield();
  nopal::mutex m;
  {
    std::unique_lock const lock{m};
  }
  auto f = nopal::pool::current()->submit(waits, depth - 1);
  co_await f;
  co_await nopal::call(waits, depth - 1);
  co_await nopal::join;
}
numbers waits_on_paper(int depth) {
  call c;
  if (depth == 0) return c;
  c.fork(waits_on_paper(depth - 1));
  c.spawn_and_wait(scope_on_paper(depth));
  c.spawn_and_wait(waits_on_paper(depth - 1));
  c.calls(waits_on_paper(depth - 1));
  c.join();
  return c;
}

nopal::task<> moves(int depth) {
  if (depth == 0) co_return;
  co_await nopal::resume_on(*nopal::pool::current());
  auto const memory = co_await nopal::stack_array<int>(10);
  co_await nopal::call(moves, depth - 1);
  co_await nopal::resume_on(nopal::pool::current()->worker(0));
}
numbers moves_on_paper(int depth) {
  call c;
  if (depth > 0) c.calls(moves_on_paper(depth - 1));
  return c;
}

TEST_P(nesting, of_tasks_that_wait) { EXPECT_EQ(waits_on_paper(3), numbers_of(in_calls(GetParam(), waits, 3))); }
TEST_P(nesting, of_tasks_that_move) { EXPECT_EQ(moves_on_paper(5), numbers_of(in_calls(GetParam(), moves, 5))); }

// ---- Regions.

TEST_P(nesting, of_regions) {
  nopal::pool_options options;
  options.workers = GetParam();
  nopal::pool pool{options};
  nopal::profile_options const in_calls{.unit = nopal::profile_unit::calls, .burden = nopal_test::burden};
  numbers const job = scope_on_paper(3);
  nopal::profile outer{in_calls};
  pool.run(by_scope, 3);
  {
    nopal::profile inner{in_calls};
    pool.run(by_scope, 3);
    inner.stop();
    EXPECT_EQ(job, numbers_of(inner.report()));
  }
  numbers within;
  pool.run([&] {
    nopal::profile inner{in_calls};
    by_scope(3);
    inner.stop();
    within = numbers_of(inner.report());
  });
  pool.run([&]() -> nopal::task<> {
    nopal::profile inner{in_calls};
    co_await nopal::fork(by_tasks, 2);
    co_await nopal::join;
    inner.stop();
    EXPECT_EQ(tasks_on_paper(2).work, inner.report().work);
  });
  outer.stop();
  EXPECT_EQ((numbers{job.work - 1, job.span - 1, job.burdened - 1}), within);
  numbers const task = tasks_on_paper(2);
  EXPECT_EQ(
      (numbers{3 * job.work + 1 + task.work, 3 * job.span + 1 + task.span, 3 * job.burdened + 1 + task.burdened + nopal_test::burden}),
      numbers_of(outer.report()));
}

// A region does not count threads outside it that do not work for the pool, nor what they run.
TEST(regions, are_of_their_own_thread) {
  nopal::pool pool{};
  nopal::profile p{{.unit = nopal::profile_unit::calls}};
  std::thread{[&] { pool.run(by_tasks, 3); }}.join();
  p.stop();
  EXPECT_EQ(0, p.report().work);
}

}  // namespace
