#pragma once

// The hooks of ordinary functions' forks: the functions of a parallel_invoke, the children of a scope, and fibers. Each wraps the callable
// in another type, so that all below is instantiated separately, and code compiled without NOPAL_PROFILE does not change. Called by
// nopal/native.hpp, nopal/scope.hpp, nopal/fiber.hpp and nopal/pool.hpp. Next: procedure.hpp.

#include <source_location>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/fiber_record.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/profile/procedure.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

// ---- Fibers.

// Measured fibers: nopal/fiber.hpp and nopal/pool.hpp spawn these instead of the closures themselves. core/scheduler/fiber_record.hpp holds
// the closure.

/// What a measured_fiber is made from.
template <class Given>
struct fiber_given : measured_given<Given> {
  void const* counter;
};

/// A fiber's closure. After its end, the paths of those that wait for its counter follow its path.
template <class F>
struct measured_fiber {
  procedure_start start;
  void const* counter;
  F f;

  template <class Given>
  explicit measured_fiber(fiber_given<Given>&& g) : start{std::move(g.start)}, counter{g.counter}, f(static_cast<Given>(*g.closure)) {}
  void operator()() && {
    struct signals_at_end {
      void const* counter;
      ~signals_at_end() {
        if (counter != nullptr) signal_from_here(counter);
      }
    };
    running_procedure const p{start};
    signals_at_end const s{counter};
    static_cast<void>(static_cast<called_once<F>>(f)());
  }
};

/// True if a fiber can be made of `F`. If not, the plain spawn gives the error.
template <class F>
inline constexpr bool can_be_measured =
    std::is_invocable_v<called_once<std::decay_t<F>>> && !returns_task<called_once<std::decay_t<F>>> &&
    std::is_constructible_v<std::decay_t<F>, F&&> && alignof(std::decay_t<F>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

/// As spawn, or spawn_counted if `c` is not null, of a measured fiber.
template <class Counter, class F>
void spawn_measured(pool_state* to, pool_state& (*otherwise)(), Counter* c, std::source_location const& where, F&& f) {
  if constexpr (!can_be_measured<F>) {
    core::spawn(to, otherwise, c, static_cast<F&&>(f));
  } else {
    if (c != nullptr) c->add();
    try {
      using given = fiber_given<F&&>;
      core::spawn_checked<measured_fiber<std::decay_t<F>>>(to, otherwise, c, given{{start_of_fiber(where), std::addressof(f)}, c});
    } catch (...) {
      if (c != nullptr) c->done();
      throw;
    }
  }
}

}  // namespace nopal::core
