#pragma once

#include <pthread.h>

#include <string>
#include <utility>

#include <taskflow/taskflow.hpp>

#include "../harness.hpp"

namespace bench {

struct taskflow_runtime {
  explicit taskflow_runtime(unsigned workers) : executor{deepen(workers)} {}

  static std::string version() { return std::string{"Taskflow "} + tf::version(); }

  // Task groups belong to the executor's threads, so the first task runs on one of them.
  template <class F>
  void run(F&& root) {
    executor.async(std::forward<F>(root)).get();
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

}  // namespace bench
