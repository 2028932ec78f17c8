#pragma once

#include <string>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>

#include "../harness.hpp"

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

  oneapi::tbb::global_control parallelism;
  oneapi::tbb::global_control stack_size;
  oneapi::tbb::task_arena arena;
};

}  // namespace bench
