#pragma once

#include <string>
#include <utility>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>

#include "../harness.hpp"
#include "fork_and_call.hpp"

namespace bench {

// oneTBB with `workers` threads, the calling one among them. Its waits run other tasks on top of the waiting frame, so
// its threads need stacks as deep as the caller's. Groups keep contexts of their own: one shared by all is cheaper on one
// thread and contended on two.
struct tbb_runtime {
  explicit tbb_runtime(unsigned workers)
      : parallelism{oneapi::tbb::global_control::max_allowed_parallelism, workers},
        stack_size{oneapi::tbb::global_control::thread_stack_size, deep_stack},
        arena{static_cast<int>(workers)} {}

  static std::string version() { return std::string{"oneTBB "} + TBB_runtime_version(); }

  template <class F, class... A>
  decltype(auto) run(F&& f, A&&... a) {
    return arena.execute([&]() -> decltype(auto) { return f(std::forward<A>(a)...); });
  }

  oneapi::tbb::global_control parallelism;
  oneapi::tbb::global_control stack_size;
  oneapi::tbb::task_arena arena;
};
using runtime = tbb_runtime;

class group {
 public:
  group() {}  // not defaulted, or group{} would first fill it with zeros
  template <class F>
  [[gnu::always_inline]] void fork(F&& f) {
    group_.run(std::forward<F>(f));
  }
  template <class F>
  [[gnu::always_inline]] void fork_and_join(F&& f) {
    group_.run_and_wait(std::forward<F>(f));
  }
  [[gnu::always_inline]] void join() { group_.wait(); }

 private:
  oneapi::tbb::task_group group_;
};

class invoker {
 public:
  invoker() {}  // likewise
  template <class... F>
  [[gnu::always_inline]] void operator()(F&&... f) {
    fork_and_call(children_, std::forward<F>(f)...);
    children_.join();
  }

 private:
  group children_;
};

}  // namespace bench
