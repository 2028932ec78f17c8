#pragma once

// The hooks of tasks. A measured task has a promise with more members, after those that the core reads, and awaiters around those of
// core/task/promise.hpp; the callable that starts a child carries what the child's path begins with. Called by nopal/task.hpp. Next:
// procedure.hpp.

#include <coroutine>
#include <source_location>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"

#if NOPAL_PROFILES

#include "nopal/core/task/child.hpp"
#include "nopal/core/task/promise.hpp"
#include "nopal/profile/hooks.hpp"
#include "nopal/profile/procedure.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What is measured of a task. Accessed by the frame's present owner; the joins also by its children.
class measured_task {
 public:
  measured_task() noexcept { own_.begin_task(); }
  measured_task(measured_task const&) = delete;
  measured_task& operator=(measured_task const&) = delete;
  ~measured_task() = default;

  void leave() noexcept {
    running_ = procedure_here();
    if (running_ != nullptr) running_->leave();
  }
  void come_back() noexcept {
    if (running_ != nullptr) return running_->come_back();
    measured_here() = {};  // it may name a child that could not start
  }
  /// What the next forked child begins with; the task has left.
  procedure_start forks(std::source_location const& where) noexcept {
    if (running_ == nullptr) return {};
    procedure_start s = running_->start_of_child(site_at(where), &forked_, children_++);
    running_->continue_behind_fork();
    return s;
  }
  /// What a called child begins with.
  procedure_start calls(std::source_location const& where) noexcept {
    if (running_ == nullptr) return {};
    procedure_start s = running_->start_of_child(site_at(where), &called_, 0);
    s.returns = false;
    return s;
  }
  void come_back_from_call() noexcept {
    if (running_ != nullptr) running_->join(called_);
    come_back();
  }
  void come_back_from_join() noexcept {
    if (running_ != nullptr) running_->join(forked_);
    come_back();
  }
  /// A wait or a call has failed, and all children have ended: the task continues after them.
  void come_back_from_failure() noexcept {
    leave();
    come_back_from_join();
  }
  void end() noexcept { own_.end_task(); }

 private:
  procedure own_;
  procedure* running_ = nullptr;  // while it waits: own_, or that of a region in its body
  measured_join forked_;
  measured_join called_;
  unsigned children_ = 0;
};

/// Where a task continues after it has left.
enum class after { fork, call, join };

template <class T>
class profiled_promise : public promise<T> {
 public:
  NOPAL_INLINE task<T> get_return_object() noexcept { return promise<T>::get_return_object(); }
  std::suspend_never final_suspend() noexcept {
    measured_.end();
    return {};
  }

  template <class nopal_what_returns_void_is_called_without_co_await>
  decltype(auto) await_transform(nopal_what_returns_void_is_called_without_co_await&& what,
                                 std::source_location where = std::source_location::current()) {
    return awaiter_of(static_cast<nopal_what_returns_void_is_called_without_co_await&&>(what), where);
  }

 private:
  auto awaiter_of(join_tag, std::source_location) noexcept {
    measured_.leave();
    return around<after::join, join_awaiter&>{*this, measured_};
  }
  template <std::uintptr_t B, class F, class... P>
  auto awaiter_of(child_awaitable<called, B, noted<F>, P...>&& child, std::source_location where) {
    measured_.leave();
    child.function().note(measured_.calls(where));
    try {
      child.start(&this->self());
    } catch (...) {
      measured_.come_back();
      throw;
    }
    return around<after::call, call_awaiter>{{}, measured_};
  }
  template <std::uintptr_t B, class F, class... P>
  auto awaiter_of(child_awaitable<forked, B, noted<F>, P...>&& child, std::source_location where) noexcept {
    using awaitable = child_awaitable<forked, B, noted<F>, P...>;
    struct awaiter {
      awaitable& child;
      bool await_ready() const noexcept { return false; }
      NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<> h) { return child.launch(static_cast<frame*>(h.address())); }
      void await_resume() const noexcept {}
    };
    measured_.leave();
    child.function().note(measured_.forks(where));
    return around<after::fork, awaiter>{{child}, measured_};
  }
  template <class U, class Awaitable>
  auto awaiter_of(value_call<U, Awaitable>&& call, std::source_location where) {
    measured_.leave();
    call.child().function().note(measured_.calls(where));
    return around<after::call, value_call<U, Awaitable>>{{std::move(call), &this->self()}, measured_};
  }
  /// Any other awaiter: the task runs until it must be suspended.
  template <class A>
  auto awaiter_of(A&& a, std::source_location) {
    using inner = decltype(promise<T>::await_transform(static_cast<A&&>(a)));
    if constexpr (std::is_same_v<inner, refused>) {
      return refused{};
    } else {
      return suspends<inner>{promise<T>::await_transform(static_cast<A&&>(a)), measured_};
    }
  }

  /// An awaiter of a task that has left: the task comes back where it continues, or where this throws. A call here may begin a wait that
  /// ends on another worker: after that nothing accesses the frame.
  template <after What, class Inner>
  struct around {
    Inner inner;
    measured_task& task;

    bool await_ready() {
      return guarded([&] { return inner.await_ready(); });
    }
    template <class Promise>
    NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<Promise> h) {
      return guarded([&] { return inner.await_suspend(h); });
    }
    decltype(auto) await_resume() {
      come_back();
      if constexpr (What == after::call) {
        return or_fails(task, [&]() -> decltype(auto) { return inner.await_resume(); });
      } else {
        return inner.await_resume();
      }
    }

   private:
    template <class F>
    bool guarded(F f) {
      try {
        return f();
      } catch (...) {
        come_back();
        throw;
      }
    }
    void come_back() noexcept {
      if constexpr (What == after::join) {
        task.come_back_from_join();
      } else if constexpr (What == after::call) {
        task.come_back_from_call();
      } else {
        task.come_back();
      }
    }
  };
  template <class Inner>
  struct suspends {
    Inner inner;
    measured_task& task;
    bool left = false;

    bool await_ready() { return inner.await_ready(); }
    template <class Promise>
    NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<Promise> h) {
      left = true;
      task.leave();
      try {
        if constexpr (std::is_void_v<decltype(inner.await_suspend(h))>) {
          inner.await_suspend(h);
          return true;
        } else {
          return inner.await_suspend(h);
        }
      } catch (...) {
        task.come_back();
        throw;
      }
    }
    decltype(auto) await_resume() {
      if (left) task.come_back();
      return or_fails(task, [&]() -> decltype(auto) { return inner.await_resume(); });
    }
  };
  template <class F>
  static decltype(auto) or_fails(measured_task& task, F f) {
    try {
      return f();
    } catch (...) {
      task.come_back_from_failure();
      throw;
    }
  }

  measured_task measured_;
};

}  // namespace nopal::core

#endif
