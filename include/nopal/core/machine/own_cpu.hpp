#pragma once

// A CPU of its own for a worker's thread, by pool_options::pin. The thread is bound to it only while it sleeps: so what a task starts,
// threads and processes, never inherits a mask of one CPU. README.md, "A CPU of its own". Next: ../scheduler/scheduler.hpp, where a thread
// begins; src/scheduler/search.cpp, where it sleeps.

#include <sched.h>

#include <array>
#include <cstddef>
#include <vector>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// An affinity mask for more CPUs than any kernel is made for.
struct cpu_mask {
  std::array<cpu_set_t, 16> sets{};

  static constexpr std::size_t bytes = sizeof(cpu_set_t) * 16;
};

/// Moves the calling thread to `cpu`, and leaves its affinity mask as it was. Returns 0; or an error number, and the thread stays where it
/// is: EINVAL if the CPU is not in its mask. The system may move the thread again. Some 10 us.
NOPAL_COLD int move_to_cpu(int cpu) noexcept;

/// From now on the calling thread, and what it starts, runs on these CPUs. Changes nothing if there are none or the system does not allow
/// it.
NOPAL_COLD void keep_to_cpus(std::vector<int> const& cpus) noexcept;

/// While it exists, the thread that made it is bound to one CPU of its mask, if possible. The thread only sleeps in that time. Afterwards
/// it has its mask again, unless another thread or process has set a new one. Four system calls in all.
class bound_to_cpu {
 public:
  explicit bound_to_cpu(int cpu) noexcept;
  bound_to_cpu(bound_to_cpu const&) = delete;
  bound_to_cpu& operator=(bound_to_cpu const&) = delete;
  ~bound_to_cpu();

 private:
  cpu_mask before_;
  cpu_mask one_;
  bool bound_ = false;
};

}  // namespace nopal::core
