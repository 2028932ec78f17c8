#pragma once

#include <pthread.h>

#include <string>
#include <utility>

#include <taskflow/taskflow.hpp>

#include "../harness.hpp"
#include "fork_and_call.hpp"

namespace bench {

struct taskflow_runtime {
  explicit taskflow_runtime(unsigned workers) : executor{deepen(workers)} {}

  static std::string version() { return std::string{"Taskflow "} + tf::version(); }

  // root(executor). Task groups belong to the executor's threads, so the first task runs on one of them.
  template <class F>
  void run(F&& root) {
    executor.async([&] { root(executor); }).get();
  }

  tf::Executor executor;

 private:
  // Taskflow waits by running other tasks on top of the waiting frame and has no option for its threads' stacks.
  static unsigned deepen(unsigned workers) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, deep_stack);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
    return workers;
  }
};
using runtime = taskflow_runtime;

class group {
 public:
  explicit group(tf::Executor& executor) : group_{executor.task_group()} {}

  template <class F>
  [[gnu::always_inline]] void fork(F&& f) {
    group_.silent_async(std::forward<F>(f));
  }
  [[gnu::always_inline]] void join() { group_.corun(); }

 private:
  tf::TaskGroup group_;
};

class invoker {
 public:
  explicit invoker(tf::Executor& executor) : children_{executor} {}

  template <class... F>
  [[gnu::always_inline]] void operator()(F&&... f) {
    fork_and_call(children_, std::forward<F>(f)...);
    children_.join();
  }

 private:
  group children_;
};

}  // namespace bench
