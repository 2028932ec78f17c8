#pragma once

// The hooks that the core calls, of jobs and of tasks' children. Without NOPAL_PROFILE core/observe/profile_hooks.hpp takes their place.
// Next: procedure.hpp.

#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/profile/procedure.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Jobs.

// A job that its caller waits for is a call: the caller does not run during it, and continues after it. A submitted job is a fork, and its
// future joins it. Called by core/scheduler/typed_job.hpp.

class NOPAL_PROFILED job_profile {
 public:
  /// By the procedure that gives the job to a pool. `waits`: it does nothing else until the job has ended.
  explicit job_profile(bool waits) noexcept : parent_{procedure_here()} {
    if (parent_ == nullptr) return;
    parent_->leave();
    start_ = parent_->start_of_child(site_of_jobs, &ended_, 0, waits ? 0 : 1);
    start_.returns = !waits;
    if (waits) return;
    parent_->come_back();
    parent_ = nullptr;
  }
  job_profile(job_profile const&) = delete;
  job_profile& operator=(job_profile const&) = delete;
  ~job_profile() { caller_continues(); }

  /// The job begins, on some worker, and is a task.
  void begin_task() noexcept { measured_here() = {nullptr, &start_}; }
  /// The job begins, and is an ordinary function: it runs while the returned object lives.
  class running {
   public:
    explicit running(job_profile const& r) noexcept { job_.begin(r.start_); }
    running(running const&) = delete;
    running& operator=(running const&) = delete;
    ~running() { job_.end(); }

   private:
    procedure job_;
  };
  running begin_function() const noexcept { return running{*this}; }

  /// The job has ended, and the caller takes its result.
  void taken() noexcept {
    if (parent_ != nullptr) return caller_continues();
    procedure* const p = procedure_here();
    if (p == nullptr || p->in.region != start_.in.region) return;
    p->leave();
    p->join(ended_);
    p->series_known = false;  // another procedure may have submitted the job
    p->come_back();
  }

 private:
  void caller_continues() noexcept {
    if (parent_ == nullptr) return;
    parent_->join(ended_);
    parent_->come_back();
    parent_ = nullptr;
  }

  procedure* parent_;  // of a job that its caller waits for, until it has ended
  procedure_start start_;
  measured_join ended_;
};

// ---- Children of tasks.

// What starts a child of a measured task: the callable, and what the child's path begins with. Used by core/task/child.hpp, which
// keeps it in the child_awaitable; task_profile.hpp calls `note`.

/// F: a pointer to the callable. It is dereferenced last, directly before the call of the child's function.
template <class F>
class noted {
 public:
  explicit noted(F f) noexcept : f_{f} {}
  void note(procedure_start s) noexcept { start_ = std::move(s); }
  decltype(auto) operator*() const noexcept {
    measured_here() = {nullptr, &start_};
    return *f_;
  }

 private:
  F f_;
  procedure_start start_;
};
template <class F>
using starter = noted<F>;

}  // namespace nopal::core
