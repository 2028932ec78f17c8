#pragma once

// The hooks of forks: of jobs, of tasks' children, and of ordinary functions. Next: procedure.hpp.

#include <source_location>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/profile/procedure.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Jobs.

// A job that its caller waits for is a call: the caller does not run during it, and continues after it. A submitted job is a fork, and its
// future joins it. Called by core/scheduler/typed_job.hpp; without NOPAL_PROFILE core/observe/profile_hooks.hpp takes
// its place.

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

// ---- Ordinary functions.

// The functions of a parallel_invoke, the children of a scope, and fibers. Each hook wraps the callable in another type, so that all below
// is instantiated separately, and code compiled without NOPAL_PROFILE does not change. Called by nopal/native.hpp, nopal/scope.hpp and
// fiber_profile.hpp.

/// From its construction to its destruction a procedure runs on this stack. It may be suspended in between.
class running_procedure {
 public:
  explicit running_procedure(procedure_start const& s) noexcept { procedure_.begin(s); }
  running_procedure(running_procedure const&) = delete;
  running_procedure& operator=(running_procedure const&) = delete;
  ~running_procedure() { procedure_.end(); }

 private:
  procedure procedure_;
};

// ---- parallel_invoke.

/// One parallel_invoke, in the frame of the function that calls it. From its construction to its destruction that function does not run.
class measured_invoke {
 public:
  measured_invoke(std::source_location const& where, unsigned functions) noexcept
      : parent_{procedure_here()}, functions_{functions}, site_{parent_ != nullptr ? site_at(where) : site_unknown} {
    if (parent_ != nullptr) parent_->leave();
  }
  measured_invoke(measured_invoke const&) = delete;
  measured_invoke& operator=(measured_invoke const&) = delete;
  ~measured_invoke() {
    if (parent_ == nullptr) return;
    parent_->join(joined_);
    parent_->come_back();
  }
  bool measures() const noexcept { return parent_ != nullptr; }
  /// What the nth function begins with. The last one continues its caller: it is the continuation after the last fork. By the worker that
  /// calls it.
  procedure_start start(unsigned n) noexcept {
    procedure_start s = parent_->start_of_child(site_, &joined_, n, n);
    s.returns = n + 1 != functions_;
    return s;
  }

 private:
  procedure* const parent_;
  measured_join joined_;
  unsigned const functions_;
  site_id const site_;
};

/// One of its functions. F: as it was given, a reference.
template <class F>
struct measured_function {
  measured_invoke* of;
  std::remove_reference_t<F>* function;
  unsigned n;
  void operator()() const {
    if (!of->measures()) return call();
    running_procedure const p{of->start(n)};
    call();
  }

 private:
  void call() const { static_cast<void>(static_cast<F>(*function)()); }
};

// ---- Children of scopes, and fibers.

/// What a measured_closure is made from, in the full expression of the fork. Given: as the closure was given, a reference.
template <class Given>
struct measured_given {
  procedure_start start;
  std::remove_reference_t<Given>* closure;
};

/// A closure that is measured when it is called.
template <class F>
struct measured_closure {
  procedure_start start;
  F f;

  template <class Given>
  explicit measured_closure(measured_given<Given>&& g) : start{std::move(g.start)}, f(static_cast<Given>(*g.closure)) {}
  void operator()() && {
    running_procedure const p{start};
    static_cast<void>(static_cast<called_once<F>>(f)());
  }
};

/// What a scope knows of its children. Only the thread that runs the scope's function accesses `forked`.
struct measured_scope {
  measured_join joined;
  unsigned forked = 0;
};

/// One fork of a scope: from its construction to its destruction the scope's function does not run.
class measured_fork {
 public:
  measured_fork(measured_scope& s, std::source_location const& where) noexcept : parent_{procedure_here()} {
    if (parent_ == nullptr) return;
    parent_->leave();
    start_ = parent_->start_of_child(site_at(where), &s.joined, s.forked++);
  }
  measured_fork(measured_fork const&) = delete;
  measured_fork& operator=(measured_fork const&) = delete;
  ~measured_fork() {
    if (parent_ == nullptr) return;
    parent_->continue_behind_fork();
    parent_->come_back();
  }
  procedure_start const& start() const noexcept { return start_; }

 private:
  procedure* const parent_;
  procedure_start start_;
};

/// A scope's join: from its construction to its destruction the scope's function does not run.
class measured_scope_join {
 public:
  explicit measured_scope_join(measured_scope& s) noexcept : scope_{s}, parent_{procedure_here()} {
    if (parent_ != nullptr) parent_->leave();
  }
  measured_scope_join(measured_scope_join const&) = delete;
  measured_scope_join& operator=(measured_scope_join const&) = delete;
  ~measured_scope_join() {
    if (parent_ == nullptr) return;
    parent_->join(scope_.joined);
    parent_->come_back();
  }

 private:
  measured_scope& scope_;
  procedure* const parent_;
};

/// What a fiber that is spawned here begins with. Thieves take the fiber, so its beginning has the burden.
inline procedure_start start_of_fiber(std::source_location const& where) noexcept {
  procedure* const p = procedure_here();
  if (p == nullptr) return {};
  p->leave();
  procedure_start s = p->start_of_child(site_at(where), nullptr, 0, 1);
  s.returns = false;  // the procedure that waits for it counts the return: follow_signals
  p->come_back();
  return s;
}

}  // namespace nopal::core
