#pragma once

// The threads that wait and have not left their stack: a list for reports. They work for no pool, or wait on top of a stack that stays. A
// thread enters it only when it is about to sleep, so the list costs nothing while no thread waits. Next: src/report/report.cpp, which
// reads it.

#include <sys/types.h>

#include <cstdint>
#include <mutex>

#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/observe/measured.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// While this lives, the calling thread is listed. `why.object` may be gone when a report reads it: the report copies it by a system call.
class sleeping_thread {
 public:
  explicit sleeping_thread(waits_for const& why) noexcept;
  /// By a worker's thread. `self`: the caller as the owner of a mutex.
  sleeping_thread(waits_for const& why, std::uintptr_t self) noexcept;
  sleeping_thread(sleeping_thread const&) = delete;
  sleeping_thread& operator=(sleeping_thread const&) = delete;
  ~sleeping_thread();

  pid_t id() const noexcept { return id_; }
  /// The thread as the owner of a mutex: this_thread(), or the stack on which it works.
  std::uintptr_t self() const noexcept { return self_; }
  waits_for const& why() const noexcept { return why_; }
  /// True if it works for no pool, and sleeps until another thread wakes it.
  bool waits_outside() const noexcept { return outside_ && why_.limit == waits_for::no_limit; }
  /// When it was listed, by the coarse clock.
  std::int64_t since() const noexcept { return since_; }

  /// Calls f(thread) for each, under the list's lock: none enters or leaves in between.
  template <class F>
  static void for_each(F f) {
    std::lock_guard const guard{mutex_};
    for (sleeping_thread const* t = first_; t != nullptr; t = t->next_) f(*t);
  }

  // ---- Around a fork, by the thread that forks: the list is locked in between.

  static void before_fork() noexcept { mutex_.lock(); }
  static void after_fork() noexcept { mutex_.unlock(); }
  /// In the child, which has none of the listed threads. Before after_fork.
  static void forget_all() noexcept { first_ = nullptr; }

 private:
  sleeping_thread(waits_for const& why, std::uintptr_t self, bool outside) noexcept;

  static inline constinit own_mutex mutex_;
  static inline constinit sleeping_thread* first_ = nullptr;

  waits_for const why_;
  pid_t const id_;
  std::uintptr_t const self_;
  bool const outside_;
  pause_in_profile const measured_;
  std::int64_t const since_;
  sleeping_thread* next_;
  sleeping_thread* before_ = nullptr;
};

/// Waits until `done` is set, by a thread that works for no pool.
inline void sleep_until_set(event& done, waits_for const& why) noexcept {
  if (done.is_set()) return;
  sleeping_thread const listed{why};
  done.wait();
}

// Waiting for a job's end: a worker suspends the stack, a thread that works for no pool sleeps. Next: event.hpp; ../stack/suspension.hpp.

/// Waits until `done` is set, which is the end of the job `job`. Any thread.
void wait_for_job(event& done, void const* job) noexcept;
/// Waits until `done` is set, on the worker `w` that runs the caller. Another worker may run the caller afterwards, unless its stack stays.
/// `why` is for reports. `join`: the job that is waited for; null: something else, as for waits_on_top (../stack/home.hpp).
void wait_on_worker(worker& w, event& done, waits_for why, void const* join = nullptr) noexcept;

}  // namespace nopal::core
