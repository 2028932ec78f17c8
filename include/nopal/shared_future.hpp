#pragma once

// shared_future: a result for any number of waiters and followers. Next: future.hpp, from which it is made.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/scheduler/typed_job.hpp"
#include "nopal/core/task/awaiters.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/future.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

/// co_await f, for a shared_future.
template <class R>
class shared_future_awaiter : public stack_awaiter {
 public:
  shared_future_awaiter(shared_future<R> const& f, frame& t) noexcept : stack_awaiter{t}, what_{f} {}
  bool await_ready() {
    return wait([this] {
      what_.wait();
      static_cast<void>(what_.get());  // throws what the job has thrown
    });
  }
  looked_at<R> await_resume() const {
    rethrow_if_failed();
    return what_.get();
  }

 private:
  shared_future<R> const& what_;
};

}  // namespace core

/// The result of a job or a promise, as a future, but any number of copies share it, and any number of threads, fibers and tasks wait for
/// it and look at it. It is made from a future. The value lives as long as a copy, or a function of then() that has it.
///
/// No exception gets lost: where a future's would end the program (future.hpp), so does the one here if no copy's get() has thrown it, and no copy was
/// destroyed by another exception.
///
///     nopal::shared_future<image> a = pool.submit(load, path);
///     auto left = a.then([](image const& i) { return half(i, 0); });
///     auto right = a.then([](image const& i) { return half(i, 1); });
template <class R>
class shared_future : public core::awaitable_tag {
 public:
  shared_future() noexcept = default;
  /// Takes over the result of `f`, which is not valid afterwards.
  explicit(false) shared_future(future<R>&& f) noexcept : state_{std::move(f.state_)} {}
  shared_future(shared_future const&) noexcept = default;
  shared_future(shared_future&&) noexcept = default;
  shared_future& operator=(shared_future other) noexcept {
    state_.swap(other.state_);  // drops what this was
    return *this;
  }
  ~shared_future() {
    if (state_ != nullptr && std::uncaught_exceptions() > 0) [[unlikely]]
      state_->let_exception_go();
  }

  /// True if it has a result, or will get one.
  bool valid() const noexcept { return state_ != nullptr; }
  /// True if the result, or an exception, is there.
  bool ready() const {
    auto& s = state("shared_future::ready()");
    core::in_order();
    return s.done.is_set();
  }
  /// As future::wait.
  void wait() const { state("shared_future::wait()").done.wait(); }
  /// As future::wait_until.
  template <class Clock, class Duration>
  bool wait_until(std::chrono::time_point<Clock, Duration> limit) const {
    auto& s = state("shared_future::wait_until()");
    return core::by_clock(limit, [&](core::time_point t) { return s.done.wait_until(t); });
  }
  /// As future::wait_for.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> timeout) const {
    return state("shared_future::wait_for()").done.wait_until(core::deadline_after(timeout));
  }
  /// Waits until the result is there, and returns a reference to it: R const&; the reference itself for R&; nothing for void. Or rethrows
  /// the exception. Any number of times.
  core::looked_at<R> get() const& {
    auto& s = state("shared_future::get()");
    s.done.wait();
    return s.look();
  }
  /// Of a temporary, which may be the last that keeps the value: keep the shared_future, or ask a future.
  core::looked_at<R> get() const&&
    requires std::is_object_v<R>
  = delete;
  /// As future::then, but g gets R const&, and this future stays as it is: any number of functions may follow.
  template <class G>
  NOPAL_PROFILED auto then(G&& g) const {
    static_cast<void>(state("shared_future::then()"));
    return core::follow<false, R>(state_, static_cast<G&&>(g));
  }

  /// For `co_await`, which returns what get() returns.
  core::shared_future_awaiter<R> in(core::frame& task) const& noexcept { return {*this, task}; }
  /// No wait: refuses `co_await` of a temporary, for the reason that get() gives.
  template <class Frame>
    requires std::is_object_v<R>
  auto in(Frame&) const&& {
    static_assert(
        sizeof(Frame*) == 0,
        "nopal: co_await of a shared_future returns a reference to its value, and this one is a temporary, with which the value may "
        "go. Give it a name: auto f = a.share(); auto const& x = co_await f.");
    return core::refused{};
  }

 private:
  friend core::future_access;

  core::shared_result<R>& state(char const* caller) const {
    if (state_ == nullptr) [[unlikely]]
      core::throw_empty_future(caller);
    return *state_;
  }
  std::shared_ptr<core::shared_result<R>> state_;
};

template <class R>
shared_future<R> future<R>::share() {
  static_cast<void>(state("future::share()"));
  return shared_future<R>{std::move(*this)};
}

}  // namespace nopal
