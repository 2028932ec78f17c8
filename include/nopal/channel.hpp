#pragma once

// channel: a queue of bounded length between fibers, tasks, functions and threads. It is a ring of values, a mutex and two condition
// variables.

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/compiler/config.hpp"

#include <cstddef>
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
#include "nopal/mutex.hpp"

namespace nopal {

/// What push throws into a closed channel.
class NOPAL_API channel_closed : public std::logic_error {
 public:
  channel_closed() : std::logic_error{"nopal: push into a closed channel; close it after the last push has returned"} {}
};

/// A queue, first in, first out, that holds at most `capacity` values. Any thread may push, pop and close. Each operation locks a mutex,
/// once more for each time that it waits, and moves or copies its value once under it; none allocates. If the move or copy throws, the
/// caller gets the exception, and nothing was pushed or popped.
///
/// Suspends: the fiber, task or function that waits leaves its native stack, and the worker runs others; a thread that works for no pool
/// sleeps.
///
/// The destructor destroys the values. Destroying it while a push or pop waits ends the program with a message.
///
///     nopal::channel<int> ch{64};
///     nopal::spawn(left, [&] { for (int k = 0; k < n; ++k) ch.push(k); ch.close(); });
///     while (auto v = ch.pop()) use(*v);
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
      }
    }
    for (; size_ != 0; drop_front()) {
    }
    std::allocator<T>{}.deallocate(ring_, capacity_);
  }

  /// Adds a value; waits while the channel is full. Throws channel_closed if it is closed, before or meanwhile; then the value is as it
  /// was.
  void push(T&& value) { push_waiting(std::move(value)); }
  void push(T const& value)
    requires std::is_copy_constructible_v<T>
  {
    push_waiting(value);
  }
  /// Adds a value, if there is room. False: it is full or closed, and the value is as it was. Waits for the mutex only.
  bool try_push(T&& value) { return push_if_room(std::move(value)); }
  bool try_push(T const& value)
    requires std::is_copy_constructible_v<T>
  {
    return push_if_room(value);
  }

  /// Takes the oldest value; waits while the channel is empty and open. Nothing: it is closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock{mutex_};
    while (size_ == 0 && !closed_) wait(not_empty_, lock, "a pop from an empty channel");
    return take_front();
  }
  /// Takes the oldest value, if there is one. Nothing: it is empty. Waits for the mutex only.
  std::optional<T> try_pop() {
    std::lock_guard const guard{mutex_};
    return take_front();
  }

  /// Lets no more values in, and wakes all that wait: a push throws channel_closed, a pop takes what is left. May be called again.
  /// O(waiters).
  void close() {
    std::lock_guard const guard{mutex_};
    closed_ = true;
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  /// The most values that it holds.
  std::size_t capacity() const noexcept { return capacity_; }

 private:
  static std::size_t checked(std::size_t capacity) {
    if (capacity == 0) throw std::invalid_argument{"nopal: channel{0}: it could never hold a value; the least capacity is 1"};
    if (capacity <= std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T)) return capacity;
    throw std::length_error{"nopal: channel{" + std::to_string(capacity) + "}: its memory is allocated at once, " +
                            std::to_string(sizeof(T)) + " bytes a value; ask for less"};
  }

  // Notifications are sent with the mutex locked: once it is unlocked, the thread that was waited for may destroy the channel.

  template <class V>
  void push_waiting(V&& value) {
    std::unique_lock lock{mutex_};
    while (size_ == capacity_ && !closed_) wait(not_full_, lock, "a push into a full channel");
    if (closed_) throw channel_closed{};
    put(std::forward<V>(value));
  }
  template <class V>
  bool push_if_room(V&& value) {
    std::lock_guard const guard{mutex_};
    if (size_ == capacity_ || closed_) return false;
    put(std::forward<V>(value));
    return true;
  }
  template <class V>
  void put(V&& value) {
    std::construct_at(ring_ + (first_ + size_) % capacity_, std::forward<V>(value));
    ++size_;
    not_empty_.notify_one();
  }
  std::optional<T> take_front() {
    std::optional<T> value;
    if (size_ != 0) {
      value.emplace(std::move(ring_[first_]));
      drop_front();
      not_full_.notify_one();
    }
    return value;
  }
  void drop_front() noexcept {
    std::destroy_at(ring_ + first_);
    first_ = first_ + 1 == capacity_ ? 0 : first_ + 1;
    --size_;
  }
  // Waits for `changed`; a report says that `what` is waited for.
  void wait(condition_variable& changed, std::unique_lock<mutex>& lock, char const* what) {
    ++waiting_;
    changed.wait_within(lock, {what, this});
    --waiting_;
  }

  mutex mutex_;
  condition_variable not_empty_, not_full_;
  std::size_t const capacity_;
  T* const ring_;
  // | free | first_ … size_ values, perhaps around the end … | free |
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::size_t waiting_ = 0;
  bool closed_ = false;
};

}  // namespace nopal
