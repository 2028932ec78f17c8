#pragma once

// promise: a result that any code gives, at any time, for a future. Next: future.hpp.

#include "nopal/core/compiler/config.hpp"

#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/core/scheduler/typed_job.hpp"
#include "nopal/eventually.hpp"
#include "nopal/future.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

/// Throws std::future_error.
[[noreturn]] NOPAL_API NOPAL_COLD void throw_promise_error(std::future_errc e);
/// What a future throws whose promise is gone.
NOPAL_API NOPAL_COLD std::exception_ptr broken_promise() noexcept;

/// What a promise shares with its futures.
template <class R>
class promised_result final : public shared_result<R> {
 public:
  promised_result() noexcept : shared_result<R>{false} {}

  R take() override {
    bool const leaves_it = this->is_followed.load(std::memory_order_relaxed);  // relaxed: see is_followed
    if (error_ != nullptr) std::rethrow_exception(leaves_it ? error_ : std::exchange(error_, nullptr));
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(**value_);
    } else if constexpr (!std::is_void_v<R>) {
      return std::move(*value_);
    }
  }
  looked_at<R> look() override {
    rethrow_if_thrown();
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(**value_);
    } else if constexpr (!std::is_void_v<R>) {
      return std::as_const(*value_);
    }
  }
  std::exception_ptr thrown() const noexcept override { return error_; }

  /// Calls fill(), which gives the value or the exception, and ends the wait. Throws what it throws, and the promise is as before.
  template <class F>
  void settle(F fill) {
    // acquire: pairs with the store below, of a thread whose fill has thrown. Only the thread that has set it writes the result, and `done`
    // releases that
    if (is_settled_.exchange(true, std::memory_order_acquire)) throw_promise_error(std::future_errc::promise_already_satisfied);
    struct unless_filled {
      promised_result* p;
      ~unless_filled() {
        // release: pairs with the exchange above of the next thread, for what the fill that has thrown has written
        if (p != nullptr) p->is_settled_.store(false, std::memory_order_release);
      }
    } u{this};
    fill();
    u.p = nullptr;
    this->done.set();
  }
  /// The promise is being destroyed.
  void abandon() noexcept {
    // relaxed: what follows writes the error only, which no fill that has thrown has written; `done` releases it
    if (is_settled_.exchange(true, std::memory_order_relaxed)) return;
    error_ = broken_promise();
    this->done.set();
  }

  std::atomic<bool> is_given_out{false};
  eventually<held_result<R>> value_;
  std::exception_ptr error_;

 private:
  void rethrow_if_thrown() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

  std::atomic<bool> is_settled_{false};
};

}  // namespace core

/// The other end of a future: a value or an exception that any thread, fiber, task or function gives, once. As std::promise, but what waits
/// for its future leaves its stack, as for a job's. It is moved, not copied. T: any type, a reference, or void.
///
/// If it is destroyed, or assigned to, without a value, its future throws std::future_error with broken_promise. An exception that was set,
/// and that no future takes, is dropped: the code that has set it has had it.
///
///     nopal::promise<reply> p;
///     connection.on_reply([&](reply r) { p.set_value(std::move(r)); });
///     reply const r = p.get_future().get();
template <class T>
class promise {
 public:
  static_assert(!std::is_rvalue_reference_v<T>, "nopal: a promise is of an object, an lvalue reference or void. Write promise<T>.");

  /// Throws std::bad_alloc.
  promise() : state_{std::make_shared<core::promised_result<T>>()} {}
  promise(promise&&) noexcept = default;
  promise& operator=(promise&& other) noexcept {
    promise taken{std::move(other)};
    state_.swap(taken.state_);
    return *this;
  }
  ~promise() {
    if (state_ != nullptr) state_->abandon();
  }

  /// The future. Throws std::future_error: future_already_retrieved for the second, no_state if the promise was moved from.
  future<T> get_future() {
    auto const& s = state();
    if (s->is_given_out.exchange(true, std::memory_order_relaxed))  // relaxed: it only decides which call gets the future
      core::throw_promise_error(std::future_errc::future_already_retrieved);
    return core::future_access::make<T>(s);
  }

  /// Gives the value, made from `v`, to the future, and wakes those that wait for it, in O(waiters). Another thread may destroy the promise
  /// as soon as they are woken. Any thread; if several call, the first gives it. Throws std::future_error: promise_already_satisfied if
  /// there is a value or an exception, no_state if the promise was moved from; and what the value's constructor throws, after which the
  /// promise is as before.
  template <class U = T>
  void set_value(U&& v)
    requires(!std::is_void_v<T> && !std::is_reference_v<T>)
  {
    constexpr bool made = std::is_constructible_v<T, U&&>;
    static_assert(made, "nopal: promise::set_value makes the value from its argument, and cannot make it from this one.");
    if constexpr (made) {
      auto const s = state();
      s->settle([&] { s->value_.emplace(core::source_of<T>(static_cast<U&&>(v))); });
    }
  }
  /// As above, for a reference.
  void set_value(std::conditional_t<std::is_reference_v<T>, T, core::refused&> v)
    requires std::is_reference_v<T>
  {
    auto const s = state();
    s->settle([&] { s->value_.emplace(std::addressof(v)); });
  }
  /// As above, without a value.
  void set_value()
    requires std::is_void_v<T>
  {
    auto const s = state();
    s->settle([] {});
  }
  /// Gives the future an exception, which is not null. Otherwise as set_value.
  void set_exception(std::exception_ptr e) {
    auto const s = state();
    s->settle([&] { s->error_ = std::move(e); });
  }

 private:
  std::shared_ptr<core::promised_result<T>> const& state() const {
    if (state_ == nullptr) [[unlikely]]
      core::throw_promise_error(std::future_errc::no_state);
    return state_;
  }
  std::shared_ptr<core::promised_result<T>> state_;
};

}  // namespace nopal
