// Programs that gdb stops in the middle: debugger.py. Each calls stop_here at the place where gdb inspects it.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#include "nopal/nopal.hpp"

// So that each function has a frame of its own, and the compiler does not merge two that are alike.
#define APART [[gnu::noinline]]
#define LAST asm volatile("" ::"i"(__LINE__) : "memory")

APART void stop_here() { LAST; }

namespace {

void await(nopal::pool const& pool, char const* what) {
  while (pool.report().find(what) == std::string::npos) std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

// ---- Two fibers that each want the other's mutex.

struct two {
  nopal::mutex first, second;
  nopal::semaphore one_has{0}, other_has{0};
};

APART void take_second(two& t) {
  std::lock_guard const guard{t.second};
  LAST;
}
APART void take_first(two& t) {
  std::lock_guard const guard{t.first};
  LAST;
}
APART void philosopher_one(two& t) {
  nopal::fiber_name const me{"one"};
  std::lock_guard const guard{t.first};
  t.one_has.release();
  t.other_has.acquire();
  take_second(t);
  LAST;
}
APART void philosopher_other(two& t) {
  nopal::fiber_name const me{"other"};
  std::lock_guard const guard{t.second};
  t.other_has.release();
  t.one_has.acquire();
  take_first(t);
  LAST;
}

APART int deadlock() {
  nopal::pool pool{{.workers = 2, .name = "table"}};
  static two t;
  static nopal::counter left;
  static nopal::channel<int> numbers{4};
  numbers.push(7);
  static nopal::future<int> answer = pool.submit([] { return 42; });
  answer.wait();
  pool.spawn(left, [] { philosopher_one(t); });
  pool.spawn(left, [] { philosopher_other(t); });
  await(pool, "these wait for each other");
  stop_here();
  std::_Exit(0);
}

// ---- A function waits at its join for the half that was stolen.

std::atomic<bool> begun{false}, released{false};

APART void stolen_half() {
  begun = true;
  while (!released) std::this_thread::yield();
  LAST;
}
APART void own_half() {
  while (!begun) std::this_thread::yield();
  LAST;
}
APART void fork_both() {
  nopal::parallel_invoke([] { own_half(); }, [] { stolen_half(); });
  LAST;
}
APART void job() {
  fork_both();
  LAST;
}

APART int stolen_join() {
  nopal::pool pool{{.workers = 2}};
  auto done = pool.submit(job);
  await(pool, "waits for a join");
  stop_here();
  std::_Exit(0);
}

// ---- As above, by a scope: the child runs on a stack of its own, and its parent was stolen.

APART void scopes_child() {
  begun = true;
  while (!released) std::this_thread::yield();
  LAST;
}
APART void scopes_parent() {
  nopal::scope s;
  s.fork([] { scopes_child(); });
  s.join();
}
APART void scopes_job() {
  scopes_parent();
  LAST;
}
APART int stolen_scope() {
  nopal::pool pool{{.workers = 2}};
  auto done = pool.submit(scopes_job);
  await(pool, "waits for a join");
  stop_here();
  std::_Exit(0);
}

// ---- Tasks: a thief runs the rest of the parent, which waits below in a mutex.

APART void wait_in_task() {
  static nopal::counter never{1};
  nopal::wait_for(never);
  LAST;
}
nopal::task<void> leaf() {
  begun = true;
  while (!released) std::this_thread::yield();
  co_return;
}
nopal::task<void> inner_task() {
  co_await nopal::fork(leaf);
  while (!begun) std::this_thread::yield();
  wait_in_task();
  co_await nopal::join;
}
nopal::task<void> outer_task() { co_await nopal::call(inner_task); }
APART int stolen_task() {
  nopal::pool pool{{.workers = 2}};
  auto done = pool.submit(outer_task);
  await(pool, "waits for a counter");
  stop_here();
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  std::string const what = argc == 2 ? argv[1] : "";
  if (what == "deadlock") return deadlock();
  if (what == "stolen_join") return stolen_join();
  if (what == "stolen_scope") return stolen_scope();
  if (what == "stolen_task") return stolen_task();
  std::fprintf(stderr, "usage: stuck deadlock|stolen_join|stolen_scope|stolen_task\n");
  return 2;
}
