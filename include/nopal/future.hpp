#pragma once

// future: the result of a job that was submitted to a pool, or of a promise. Next: shared_future.hpp, which many may wait for; after.hpp,
// what begins after it; core/wait/completion.hpp, what it waits for.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/scheduler/dependent.hpp"
#include "nopal/core/scheduler/typed_job.hpp"
#include "nopal/core/task/awaiters.hpp"
#include "nopal/core/wait/completion.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI {

template <class R>
class future;
template <class R>
class shared_future;

namespace core {

/// Makes futures, and finds what they share with their jobs. F: future<R> or shared_future<R>. Throws std::logic_error for an empty one.
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

/// What then() calls its function with: the result of the future, taken or as it is.
template <class R, bool Takes>
struct result_for {
  using type = std::conditional_t<Takes && !std::is_reference_v<R>, R&&, looked_at<R>>;
  template <class G>
  static constexpr bool may_call = std::is_invocable_v<called_once<G, type>, type>;
};
template <bool Takes>
struct result_for<void, Takes> {
  template <class G>
  static constexpr bool may_call = std::is_invocable_v<called_once<G>>;
};

/// What the job of then() calls. Not called where the future has failed.
template <class R, bool Takes, class G>
struct follower {
  shared_result<R>* of;  // the job keeps it
  G g;

  decltype(auto) operator()() && {
    if constexpr (std::is_void_v<R>) {
      return std::invoke(static_cast<called_once<G>>(g));
    } else if constexpr (Takes && !std::is_reference_v<R>) {
      // Not by take, whose value would end with this call: a coroutine function refers to it for longer.
      return std::invoke(static_cast<called_once<G, R&&>>(g), static_cast<R&&>(const_cast<R&>(of->look())));
    } else {
      return std::invoke(static_cast<called_once<G, looked_at<R>>>(g), of->look());
    }
  }
};

/// then, for a future of either kind: below.
template <bool Takes, class R, class G>
NOPAL_PROFILED auto follow(std::shared_ptr<shared_result<R>> const& s, G&& g);

/// co_await f, for a future.
template <class R>
class future_awaiter : public stack_awaiter {
 public:
  future_awaiter(future<R>& f, frame& t) noexcept : stack_awaiter{t}, what_{f} {}
  bool await_ready() {
    return wait([this] { what_.wait_and_throw(); });
  }
  R await_resume() {
    static_assert(std::is_reference_v<R> || std::is_void_v<R> ||
                      alignof(std::conditional_t<std::is_void_v<R>, char, std::remove_reference_t<R>>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "nopal: compilers align a task's variables to 16 bytes at most, so this result cannot be awaited. Take it by get() in an "
                  "ordinary function, or let the job return std::unique_ptr<T>.");
    rethrow_if_failed();
    return what_.get();
  }

 private:
  future<R>& what_;
};

}  // namespace core

/// The result of pool::submit, of then() and of a promise, for one get() or `co_await`. Dropping it does not stop or wait for the job. Any number of threads may wait
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
  [[gnu::noinline]] ~future() {  // one for each R: each use of a future is less code
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

  /// Calls g(value) once the result is there, and returns a future of what g returns; g() for void. Afterwards this future is not valid.
  /// g is a job of the pool, an ordinary function or a coroutine function: the worker that has ended this future's job runs it next, unless
  /// a thief takes it. If the result is there already, or comes from a promise, g is a job of the caller's pool, or of default_pool() if the
  /// caller works for none. No thread and no stack waits. If this future has failed, g is not called, and the future that is returned has
  /// the same exception: that is lost only if neither is asked for it. Throws std::bad_alloc, what keeping g throws, and what default_pool()
  /// throws; then this future is unchanged.
  ///
  ///     auto size = pool.submit(load, path).then([](image i) { return i.size(); });
  template <class G>
  NOPAL_PROFILED auto then(G&& g) {
    static_cast<void>(state("future::then()"));
    auto next = core::follow<true, R>(state_, static_cast<G&&>(g));
    state_ = nullptr;
    return next;
  }
  /// As the conversion to a shared_future (shared_future.hpp). Afterwards this future is not valid. Throws std::logic_error if it was not
  /// before.
  shared_future<R> share();

  /// For `co_await`.
  core::future_awaiter<R> in(core::frame& task) noexcept { return {*this, task}; }

 private:
  friend class pool;
  friend core::future_awaiter<R>;
  friend core::future_access;
  friend shared_future<R>;
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

namespace core {

template <bool Takes, class R, class G>
NOPAL_PROFILED auto follow(std::shared_ptr<shared_result<R>> const& s, G&& g) {
  using kept = std::decay_t<G>;
  constexpr bool callable = result_for<R, Takes>::template may_call<kept>;
  static_assert(
      callable,
      "nopal: then calls its function with the future's value: T of a future<T>, T const& of a shared_future<T>, nothing for void.");
  constexpr bool copied = std::is_constructible_v<kept, G&&>;
  static_assert(copied, "nopal: then keeps its function by value, and this one cannot be copied. Write f.then(std::move(g)).");
  if constexpr (callable && copied) {
    pool_state* const pool = core::pool_to_follow_in(*s);
    return future_access::make(core::submit_after(pool, default_pool_state, region_here(), core::only_after(s),
                                                  follower<R, Takes, kept>{s.get(), static_cast<G&&>(g)}));
  } else {
    return future<refused>{};
  }
}

}  // namespace core

}  // namespace nopal
