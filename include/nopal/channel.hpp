#pragma once

// channel: a queue of bounded length between fibers, tasks, functions and threads. It is a ring of values, a mutex and two condition
// variables.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "nopal/condition_variable.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/task/waiting_task.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/mutex.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {
/// select's access to a channel. Defined by <nopal/select.hpp>.
template <class T>
struct channel_selection;
template <class T, class Derived>
class channel_task;
}  // namespace core

template <class T>
class channel;

/// What channel::push returns, as a bool. In a task it may also be awaited: `bool const taken = co_await ch.push(v);`. A copy of it,
/// `auto taken = ch.push(v);`, has waited.
template <class T>
class pushed : public core::pending_call {
 public:
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): it waits
  pushed(pushed&& from) : taken_{from.done()} {}
  ~pushed() noexcept(false) {
    if (must_end()) finish();
  }

  /// True: the value was taken. False: the channel is closed.
  operator bool() const { return done(); }  // NOLINT(google-explicit-constructor)

  template <class Frame, class Awaiter = core::task_waits_for<pushed>>
  Awaiter in(Frame& f) && {
    return {*this, f};
  }

 private:
  friend class channel<T>;
  template <class Call>
  friend class core::task_waits_for;

  pushed() noexcept = default;
  bool done() const {
    if (is_pending()) const_cast<pushed*>(this)->finish();  // it is a temporary, which is not const
    return taken_;
  }
  void finish();

  channel<T>* to_ = nullptr;
  T* moved_ = nullptr;  // one of both, which live as long as this while it is pending
  T const* copied_ = nullptr;
  bool taken_ = false;
};

/// What channel::pop returns: used like a std::optional<T>, and converts to one. In a task it may also be awaited:
/// `auto v = co_await ch.pop();`, which gives a std::optional<T>. A copy of it, `auto v = ch.pop();`, has waited and holds the value.
template <class T>
class popped : public core::pending_call {
 public:
  using value_type = T;

  // NOLINTBEGIN(performance-noexcept-move-constructor): both wait
  popped(popped&& from) : value_{std::move(from.done())} {}
  popped& operator=(popped&& from) {
    done() = std::move(from.done());
    return *this;
  }
  // NOLINTEND(performance-noexcept-move-constructor)
  ~popped() noexcept(false) {
    if (must_end()) finish();
  }

  bool has_value() const { return done().has_value(); }
  explicit operator bool() const { return has_value(); }
  T& operator*() & { return *done(); }
  T const& operator*() const& { return *done(); }
  T&& operator*() && { return *std::move(done()); }
  T* operator->() { return std::addressof(*done()); }
  T const* operator->() const { return std::addressof(*done()); }
  T& value() & { return done().value(); }
  T const& value() const& { return done().value(); }
  T&& value() && { return std::move(done()).value(); }
  template <class U>
  T value_or(U&& other) const& {
    return done().value_or(std::forward<U>(other));
  }
  template <class U>
  T value_or(U&& other) && {
    return std::move(done()).value_or(std::forward<U>(other));
  }
  void reset() { done().reset(); }

  // By value: of conversions to references `o = ch.pop()` could not choose, and a reference to one would outlive it.
  operator std::optional<T>() && { return std::move(done()); }  // NOLINT(google-explicit-constructor)
  operator std::optional<T>() const&                            // NOLINT(google-explicit-constructor)
    requires std::is_copy_constructible_v<T>
  {
    return done();
  }

  /// As of std::optional<T>.
  template <class U>
    requires(!std::is_same_v<U, popped>) && requires(std::optional<T> const& o, U const& u) { o == u; }
  friend bool operator==(popped const& a, U const& b) {
    return a.done() == b;
  }
  friend bool operator==(popped const& a, std::optional<T> const& b)
    requires requires(T const& t) { t == t; }
  {
    return a.done() == b;
  }
  friend bool operator==(popped const& a, popped const& b)
    requires requires(T const& t) { t == t; }
  {
    return a.done() == b.done();
  }

  template <class Frame, class Awaiter = core::task_waits_for<popped>>
  Awaiter in(Frame& f) && {
    return {*this, f};
  }

 private:
  friend class channel<T>;
  template <class Call>
  friend class core::task_waits_for;

  popped() noexcept = default;
  std::optional<T>& done() {
    if (is_pending()) finish();
    return value_;
  }
  std::optional<T> const& done() const { return const_cast<popped*>(this)->done(); }  // while it is pending it is a temporary, not const
  void finish();

  channel<T>* from_ = nullptr;
  std::optional<T> value_;
};

/// A queue, first in, first out, that holds at most `capacity` values. Any thread may push, pop and close. Each operation locks a mutex,
/// once more for each time that it waits, and moves or copies its value once under it; none allocates. If the move or copy throws, the
/// caller gets the exception, and nothing was pushed or popped. (If a later move of what pop returns throws, the value is lost.)
///
/// A channel ends by close(): it takes no more values. close(exception) also says why: a pop after the last value throws the exception. A
/// stage of a pipeline that fails closes the channel behind it with the exception, so that the next stage learns of it, and the channel
/// before it, so that push tells the stage before it.
///
/// Suspends: the fiber, task or function that waits leaves its native stack, and the worker runs others; a thread that works for no pool
/// sleeps. A push or pop that waits throws nopal::stopped if the caller is asked to stop (stop.hpp); then nothing was pushed or popped.
///
/// The destructor destroys the values. Destroying it while a push or pop waits ends the program with a message.
///
///     nopal::channel<int> ch{64};
///     nopal::spawn(left, [&] { for (int k = 0; k < n && ch.push(k); ++k) {} ch.close(); });
///     for (int v : ch) use(v);
template <class T>
class channel {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && std::is_nothrow_destructible_v<T>,
                "nopal: a channel's values are moved out of it, and their destructors do not throw. Write "
                "channel<std::remove_cvref_t<T>>.");

 public:
  /// A channel of `capacity` values, whose memory is allocated here. Throws std::invalid_argument for 0, std::length_error if so many bytes
  /// cannot be counted, std::bad_alloc.
  explicit channel(std::size_t capacity) : capacity_{checked(capacity)}, ring_{std::allocator<T>{}.allocate(capacity)} {}
  channel(channel const&) = delete;
  channel& operator=(channel const&) = delete;
  ~channel() {
    {
      std::lock_guard const guard{mutex_};
      if (waiting_ != 0) {
        core::die_unless_in_exit(
            "a channel was destroyed while a fiber, task or thread waits in its push or pop; close() it, and let them return");
        core::keep_for_ever(failure_);
        return;  // as its ring and the values in it, for those that still use them
      }
    }
    for (; size_ != 0; drop_front()) {
    }
    std::allocator<T>{}.deallocate(ring_, capacity_);
  }

  /// Adds a value; waits while the channel is full. False: it is closed, before or during the wait, and `value` is unchanged.
  /// In a task `co_await ch.push(v)` waits without a native stack. Called with one argument.
  pushed<T>&& push(T&& value, pushed<T>&& call NOPAL_LIFETIMEBOUND = {}) {
    call.to_ = this;
    if (!core::task_may_wait_here()) {
      call.taken_ = push_when_room(std::move(value), wait_for_ever);
    } else if (begin_push(call, std::move(value))) {
      call.moved_ = std::addressof(value);
    }
    return std::move(call);
  }
  pushed<T>&& push(T const& value, pushed<T>&& call NOPAL_LIFETIMEBOUND = {})
    requires std::is_copy_constructible_v<T>
  {
    call.to_ = this;
    if (!core::task_may_wait_here()) {
      call.taken_ = push_when_room(value, wait_for_ever);
    } else if (begin_push(call, value)) {
      call.copied_ = std::addressof(value);
    }
    return std::move(call);
  }
  /// Adds a value, if there is room. False: it is full or closed, and `value` is unchanged. Waits for the mutex only.
  bool try_push(T&& value) { return push_when_room(std::move(value), wait_never); }
  bool try_push(T const& value)
    requires std::is_copy_constructible_v<T>
  {
    return push_when_room(value, wait_never);
  }
  /// As push, until `deadline`, by any clock. False: that passed first, or it is closed; is_closed() tells which. Also throws
  /// std::bad_alloc, or std::system_error if the thread that serves time limits cannot be started.
  template <class Clock, class Duration>
  bool try_push_until(T&& value, std::chrono::time_point<Clock, Duration> deadline) {
    return push_when_room(std::move(value), wait_until(deadline));
  }
  template <class Clock, class Duration>
  bool try_push_until(T const& value, std::chrono::time_point<Clock, Duration> deadline)
    requires std::is_copy_constructible_v<T>
  {
    return push_when_room(value, wait_until(deadline));
  }
  /// As above, for a duration.
  template <class Rep, class Period>
  bool try_push_for(T&& value, std::chrono::duration<Rep, Period> timeout) {
    return try_push_until(std::move(value), core::deadline_after(timeout));
  }
  template <class Rep, class Period>
  bool try_push_for(T const& value, std::chrono::duration<Rep, Period> timeout)
    requires std::is_copy_constructible_v<T>
  {
    return try_push_until(value, core::deadline_after(timeout));
  }

  /// Takes the oldest value; waits while the channel is empty and open. Nothing: it is closed and empty. If it was closed with an
  /// exception, rethrows that instead, for each caller. In a task `co_await ch.pop()` waits without a native stack. Called without
  /// arguments. If a T can be made from anything, or from what has a truth value, as bool can, this returns a std::optional<T>, and is not
  /// awaited: else a std::optional<T> would be made from a popped<T> in the wrong way.
  std::optional<T> pop()
    requires std::is_constructible_v<T, popped<T>>
  {
    return pop_when_filled(wait_for_ever);
  }
  popped<T>&& pop(popped<T>&& call NOPAL_LIFETIMEBOUND = {})
    requires(!std::is_constructible_v<T, popped<T>>)
  {
    call.from_ = this;
    if (!core::task_may_wait_here()) {
      pop_into(call.value_, wait_for_ever);
    } else if (std::lock_guard const guard{mutex_}; size_ != 0 || closed_) {
      take_if_any(call.value_);
    } else {
      call.begin();
    }
    return std::move(call);
  }
  /// Takes the oldest value, if there is one. Nothing: it is empty. Rethrows as pop. Waits for the mutex only.
  std::optional<T> try_pop() { return pop_when_filled(wait_never); }
  /// As pop, until `deadline`, by any clock. Nothing: that passed first, or it is closed and empty; is_closed() tells which. Also throws
  /// std::bad_alloc, or std::system_error if the thread that serves time limits cannot be started.
  template <class Clock, class Duration>
  std::optional<T> try_pop_until(std::chrono::time_point<Clock, Duration> deadline) {
    return pop_when_filled(wait_until(deadline));
  }
  /// As above, for a duration.
  template <class Rep, class Period>
  std::optional<T> try_pop_for(std::chrono::duration<Rep, Period> timeout) {
    return try_pop_until(core::deadline_after(timeout));
  }

  /// Lets no more values in, and wakes all waiters: a push returns that its value was not taken, a pop takes what is left. May be called
  /// again. O(waiters).
  void close() { close(nullptr); }
  /// As close(), and keeps `failure`, unless that is null: a pop that finds nothing left rethrows it. The first failure is kept, also if
  /// the channel was closed without one before.
  void close(std::exception_ptr failure) {
    std::lock_guard const guard{mutex_};
    closed_ = true;
    if (failure_ == nullptr) failure_ = std::move(failure);
    not_empty_.notify_all();
    not_full_.notify_all();
  }
  /// True if it was closed. It may still hold values. Waits for the mutex only.
  bool is_closed() const {
    std::lock_guard const guard{mutex_};
    return closed_;
  }

  /// The most values that it holds.
  std::size_t capacity() const noexcept { return capacity_; }

  /// For range-for: each step pops a value, and holds it until the next. The loop ends when pop would return nothing, and throws what pop
  /// would throw. Several loops over one channel share its values.
  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    explicit iterator(channel& from) : from_{std::addressof(from)} { pop(); }
    T& operator*() const noexcept { return *value_; }
    T* operator->() const noexcept { return std::addressof(*value_); }
    iterator& operator++() {
      pop();
      return *this;
    }
    void operator++(int) { pop(); }
    friend bool operator==(iterator const& i, std::default_sentinel_t) noexcept { return !i.value_.has_value(); }

   private:
    void pop() {
      value_.reset();
      from_->pop_into(value_, wait_for_ever);
    }

    channel* from_;
    mutable std::optional<T> value_;  // the range's elements are not const, though its iterators may be
  };
  iterator begin() { return iterator{*this}; }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  friend core::channel_selection<T>;
  friend class pushed<T>;
  friend class popped<T>;
  template <class Call>
  friend class core::task_waits_for;
  template <class U, class Derived>
  friend class core::channel_task;

  static std::size_t checked(std::size_t capacity) {
    if (capacity == 0) throw std::invalid_argument{"nopal: channel{0}: it could never hold a value; the least capacity is 1"};
    if (capacity <= std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T)) return capacity;
    throw std::length_error{"nopal: channel{" + std::to_string(capacity) + "}: its memory is allocated at once, " +
                            std::to_string(sizeof(T)) + " bytes a value; ask for less"};
  }

  // Notifications are sent with the mutex locked: once it is unlocked, the notified thread may destroy the channel.

  // The three ways to wait for `changed`; `why` is for reports. False: the wait is over.
  static bool wait_for_ever(condition_variable& changed, std::unique_lock<mutex>& lock, core::waits_for const& why) {
    changed.wait_within(lock, why);
    return true;
  }
  static bool wait_never(condition_variable&, std::unique_lock<mutex>&, core::waits_for const&) noexcept { return false; }
  template <class Clock, class Duration>
  static auto wait_until(std::chrono::time_point<Clock, Duration> deadline) {
    return [deadline](condition_variable& changed, std::unique_lock<mutex>& lock, core::waits_for const& why) {
      // The clock may be slower than the steady one, so it is read again.
      return core::time_left(deadline).count() > 0 &&
             (changed.wait_until_within(lock, core::deadline_after(core::time_left(deadline)), why) == std::cv_status::no_timeout ||
              core::is_still_ahead(deadline));
    };
  }
  // Waits for `changed` once, and counts the waiter.
  template <class Wait>
  bool wait(condition_variable& changed, std::unique_lock<mutex>& lock, char const* what, Wait& how) {
    struct counted {
      std::size_t& n;
      explicit counted(std::size_t& waiting) noexcept : n{waiting} { ++n; }
      counted(counted const&) = delete;
      counted& operator=(counted const&) = delete;
      ~counted() { --n; }
    } const as_waiter{waiting_};
    return how(changed, lock, {what, this});
  }

  template <class V, class Wait>
  bool push_when_room(V&& value, Wait how) {
    std::unique_lock lock{mutex_};
    while (size_ == capacity_ && !closed_ && wait(not_full_, lock, "a push into a full channel", how)) {
    }
    if (size_ == capacity_ || closed_) return false;
    put(std::forward<V>(value));
    return true;
  }
  // By a task, perhaps. True: it has to wait.
  template <class V>
  bool begin_push(pushed<T>& call, V&& value) {
    std::lock_guard const guard{mutex_};
    if (size_ != capacity_ && !closed_) {
      put(std::forward<V>(value));
      call.taken_ = true;
    } else if (!closed_) {
      call.begin();
      return true;
    }
    return false;
  }
  // Only for a T that may be copied: else no push copies.
  bool push_copy_when_room(T const& value) {
    if constexpr (std::is_copy_constructible_v<T>) return push_when_room(value, wait_for_ever);
    return false;
  }
  void put_copy(T const& value) {
    if constexpr (std::is_copy_constructible_v<T>) put(value);
  }
  // There is room, and the mutex is locked.
  template <class V>
  void put(V&& value) {
    pass_on_if_thrown(not_full_, [&] { std::construct_at(ring_ + (first_ + size_) % capacity_, std::forward<V>(value)); });
    ++size_;
    not_empty_.notify_one();
  }
  template <class Wait>
  std::optional<T> pop_when_filled(Wait how) {
    std::optional<T> value;
    pop_into(value, how);
    return value;
  }
  // `value` is empty.
  template <class Wait>
  void pop_into(std::optional<T>& value, Wait how) {
    std::unique_lock lock{mutex_};
    while (size_ == 0 && !closed_ && wait(not_empty_, lock, "a pop from an empty channel", how)) {
    }
    take_if_any(value);
  }
  // With the mutex locked. `value` is empty.
  void take_if_any(std::optional<T>& value) {
    if (size_ != 0) {
      pass_on_if_thrown(not_empty_, [&] { value.emplace(std::move(ring_[first_])); });
      drop_front();
      not_full_.notify_one();
    } else if (failure_ != nullptr) {
      std::rethrow_exception(failure_);
    }
  }
  // Calls step(). If that throws, the caller may have been notified of what it has not used: then the next waiter is notified.
  template <class Step>
  static void pass_on_if_thrown(condition_variable& changed, Step step) {
    try {
      step();
    } catch (...) {
      changed.notify_one();
      throw;
    }
  }
  void drop_front() noexcept {
    std::destroy_at(ring_ + first_);
    first_ = first_ + 1 == capacity_ ? 0 : first_ + 1;
    --size_;
  }
  mutable mutex mutex_;
  condition_variable not_empty_, not_full_;
  std::size_t const capacity_;
  T* const ring_;
  // | free | first_ … size_ values, perhaps around the end … | free |
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::size_t waiting_ = 0;
  bool closed_ = false;
  std::exception_ptr failure_;  // what it was closed with
};

template <class T>
void popped<T>::finish() {
  end();
  from_->pop_into(value_, channel<T>::wait_for_ever);
}
template <class T>
void pushed<T>::finish() {
  end();
  taken_ = moved_ != nullptr ? to_->push_when_room(std::move(*moved_), channel<T>::wait_for_ever) : to_->push_copy_when_room(*copied_);
}

namespace core {

/// A task that waits in a channel. Derived says when it may continue, `has_come`, and what it does then, `take`, with the mutex locked.
template <class T, class Derived>
class channel_task : public parks<Derived> {
 public:
  bool await_ready() const noexcept { return is_over_; }

 protected:
  channel_task(frame& f, channel<T>& c, char const* what, bool is_over) noexcept
      : parks<Derived>{f, {what, &c}}, channel_{c}, is_over_{is_over}, me_{*this} {}
  ~channel_task() = default;

  channel<T>& channel_;

 private:
  friend class parks<Derived>;
  // A waiter that was notified tests once more, as channel::wait's caller. One that was asked to stop does not.
  bool waits(bool woken) {
    auto& self = static_cast<Derived&>(*this);
    std::unique_lock lock{channel_.mutex_, std::defer_lock};
    if (woken) {
      bool const expired = this->end_limit();
      lock.lock();
      --channel_.waiting_;
      if (expired) {
        self.changed().forget(me_);
        throw_stopped();
      }
      if (self.has_come()) return self.take(), false;
    }
    if (lock.owns_lock()) lock.unlock();
    timer_entry* const limit = this->begin_limit(me_, time_point::max(), true);
    lock.lock();
    if (self.has_come()) {
      static_cast<void>(this->end_limit());
      self.take();
      return false;
    }
    ++channel_.waiting_;
    self.changed().watch_until(me_, limit);
    return true;  // once the mutex is unlocked, the task may continue
  }
  void wait_here() { static_cast<Derived&>(*this).here(); }

  bool const is_over_;
  task_node<queued_waiter<timed_stack_waits>> me_;
};

/// `co_await ch.pop()`.
template <class T>
class task_waits_for<popped<T>> final : public channel_task<T, task_waits_for<popped<T>>> {
 public:
  task_waits_for(popped<T>& call, frame& f)
      : base{f, *call.from_, "a value in a channel", !call.is_pending()}, value_{std::move(call.value_)} {
    call.end();
  }
  std::optional<T> await_resume() {
    static_assert(fits_frame<T>,
                  "nopal: compilers align a task's variables to 16 bytes at most, so this result cannot be awaited. Let the channel hold "
                  "std::unique_ptr<T>, and await that.");
    this->rethrow_if_failed();
    return std::move(value_);
  }

 private:
  using base = channel_task<T, task_waits_for>;
  friend base;
  condition_variable& changed() noexcept { return this->channel_.not_empty_; }
  bool has_come() const noexcept { return this->channel_.size_ != 0 || this->channel_.closed_; }
  void take() { this->channel_.take_if_any(value_); }
  void here() { this->channel_.pop_into(value_, channel<T>::wait_for_ever); }

  std::optional<T> value_;
};

/// `co_await ch.push(v)`.
template <class T>
class task_waits_for<pushed<T>> final : public channel_task<T, task_waits_for<pushed<T>>> {
 public:
  task_waits_for(pushed<T>& call, frame& f) noexcept
      : base{f, *call.to_, "room in a channel", !call.is_pending()}, moved_{call.moved_}, copied_{call.copied_}, taken_{call.taken_} {
    call.end();
  }
  bool await_resume() {
    this->rethrow_if_failed();
    return taken_;
  }

 private:
  using base = channel_task<T, task_waits_for>;
  friend base;
  condition_variable& changed() noexcept { return this->channel_.not_full_; }
  bool has_come() const noexcept { return this->channel_.size_ != this->channel_.capacity_ || this->channel_.closed_; }
  void take() {
    if (this->channel_.closed_) return;
    moved_ != nullptr ? this->channel_.put(std::move(*moved_)) : this->channel_.put_copy(*copied_);
    taken_ = true;
  }
  void here() {
    taken_ = moved_ != nullptr ? this->channel_.push_when_room(std::move(*moved_), channel<T>::wait_for_ever)
                               : this->channel_.push_copy_when_room(*copied_);
  }

  T* const moved_;
  T const* const copied_;
  bool taken_;
};

}  // namespace core

}  // namespace nopal
