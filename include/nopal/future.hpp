#pragma once

// future: the result of a job that was submitted to a pool, or of a promise. Next: core/wait/completion.hpp, what it
// waits for.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "nopal/core/base/in_order.hpp"
#include "nopal/core/scheduler/typed_job.hpp"
#include "nopal/core/task/awaiters.hpp"
#include "nopal/core/wait/completion.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI {

template <class R>
class future;

namespace core {

/// Makes futures, and finds what they share with their jobs. F: future<R>. Throws std::logic_error for an empty one.
struct future_access {
  template <class R>
  static future<R> make(std::shared_ptr<shared_result<R>> s) noexcept {
    return future<R>{std::move(s)};
  }
  template <class F>
  static auto const& shared(F const& f, char const* caller) {
    static_cast<void>(f.state(caller));
    return f.state_;
  }
  template <class F>
  static completion& of(F const& f, char const* caller) {
    return f.state(caller).done;
  }
  /// What its job has thrown; null: nothing. After the job's end.
  template <class F>
  static std::exception_ptr thrown(F const& f) {
    return f.state("when_all").thrown();
  }
};

/// co_await f, for a future.
template <class R>
class future_awaiter : public stack_awaiter {
 public:
  future_awaiter(future<R>& f, frame& t) noexcept : stack_awaiter{t}, what_{f} {}
  bool await_ready() {
    return wait([this] { what_.wait_and_throw(); });
  }
  R await_resume() {
    rethrow_if_failed();
    return what_.get();
  }

 private:
  future<R>& what_;
};

}  // namespace core

/// The result of pool::submit and of a promise, for one get() or `co_await`. Dropping it does not stop or wait for the job. Any number of threads may wait
/// for it at once, but only one may take the result. It may outlive its pool. An empty future (without a job, or with its result taken)
/// throws std::logic_error from all members but valid(). Each wait throws nopal::stopped if the caller is asked to stop (stop.hpp): the job
/// runs on, and the future is unchanged.
///
/// No exception gets lost. If the future was dropped, or is destroyed or assigned to before its result was taken, an exception that has
/// left the job, or leaves it later, ends the program with its message, as from pool::detach and a fiber without a counter. Two do not:
/// nopal::stopped, which was asked for; and what is thrown by the job of a future that another exception has destroyed, as in a scope.
///
///     auto f = pool.submit(fib, 30);
///     long const x = co_await f;      // in a task, also between fork and join; f.get() anywhere
template <class R>
class future : public core::awaitable_tag {
 public:
  future() noexcept = default;
  future(future&&) noexcept = default;
  future& operator=(future&& other) noexcept {
    future taken{std::move(other)};
    state_.swap(taken.state_);  // drops what this was
    return *this;
  }
  ~future() {
    if (state_ != nullptr && std::uncaught_exceptions() > 0) [[unlikely]]
      state_->let_exception_go();
  }

  /// True if it has a job whose result was not taken yet.
  bool valid() const noexcept { return state_ != nullptr; }
  /// True if the job has ended.
  bool ready() const {
    auto& s = state("future::ready()");
    core::in_order();
    return s.done.is_set();
  }
  /// Waits until the job has ended. On a worker the caller's native stack is suspended, and the worker runs others; a thread that works for
  /// no pool sleeps.
  void wait() const { state("future::wait()").done.wait(); }
  /// Waits until the job has ended, or until `limit`, of any clock. False: the limit expired first. Throws std::bad_alloc, or
  /// std::system_error if the thread that serves time limits cannot be started.
  template <class Clock, class Duration>
  bool wait_until(std::chrono::time_point<Clock, Duration> limit) const {
    auto& s = state("future::wait_until()");
    return core::by_clock(limit, [&](core::time_point t) { return s.done.wait_until(t); });
  }
  /// Waits until the job has ended, or for `timeout`. As wait_until.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> timeout) const {
    return state("future::wait_for()").done.wait_until(core::deadline_after(timeout));
  }
  /// Waits until the job has ended; returns its value or rethrows its exception. Afterwards the future is not valid.
  R get() {
    state("future::get()").done.wait();
    auto const s = std::exchange(state_, nullptr);
    return s->take();
  }

  /// For `co_await`.
  core::future_awaiter<R> in(core::frame& task) noexcept { return {*this, task}; }

 private:
  friend class pool;
  friend core::future_awaiter<R>;
  friend core::future_access;
  explicit future(std::shared_ptr<core::shared_result<R>> s) noexcept : state_{std::move(s)} {}

  void wait_and_throw() {
    auto& s = state("co_await");
    s.done.wait();
    if (s.thrown() != nullptr) static_cast<void>(get());
  }
  core::shared_result<R>& state(char const* caller) const {
    if (state_ == nullptr) [[unlikely]]
      core::throw_empty_future(caller);
    return *state_;
  }
  std::shared_ptr<core::shared_result<R>> state_;
};

}  // namespace nopal
