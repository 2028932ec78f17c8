#pragma once

// What the mutex, the condition variable and the semaphore wait in: a list whose nodes lie in the waiting frames, first come, first
// served. Next: queued_word.hpp, which guards it.

#include <cstddef>

#include "nopal/core/wait/waiter.hpp"

namespace nopal::core {

/// Those that were claimed under a lock, to be woken in order once it is free.
template <class Waits>
class claimed_waiters {
  using node = typename Waits::waiter::node;

 public:
  void add(node& w) noexcept {
    w.next_waiter = nullptr;
    *last_ = &w;
    last_ = &w.next_waiter;
  }
  void wake() noexcept {
    for (node* w = first_; w != nullptr;) {
      node* const next = w->next_waiter;  // read before it may be gone
      w->wake();
      w = next;
    }
  }

 private:
  using link = decltype(node::next_waiter);
  link first_{nullptr};
  link* last_ = &first_;
};

/// In a wait_queue while it waits; next_waiter links those that are woken together.
template <class Waits>
struct queued_waiter : Waits::waiter {
  template <class T>
  using plain = typename Waits::sync::template plain<T>;
  plain<queued_waiter*> ahead{nullptr};
  plain<queued_waiter*> behind{nullptr};
};

/// Whoever uses it holds its lock bit. O(1), but for skipping those that have timed out and are not gone yet.
template <class Waits>
class wait_queue {
  using node = queued_waiter<Waits>;

 public:
  bool empty() const noexcept { return first_ == nullptr; }

  void push_back(node& w) noexcept { link(last_, w, nullptr); }
  /// For one that has waited before.
  void push_front(node& w) noexcept { link(nullptr, w, first_); }
  void remove(node& w) noexcept {
    node* const ahead = w.ahead;
    node* const behind = w.behind;
    (ahead != nullptr ? ahead->behind : first_) = behind;
    (behind != nullptr ? behind->ahead : last_) = ahead;
  }
  /// Null if it is empty. Not where there are time limits.
  node* pop_front() noexcept {
    node* const w = first_;
    if (w != nullptr) remove(*w);
    return w;
  }
  /// Takes out the first `most` that the caller may wake: how many there are. One that has timed out stays until it removes itself: thus
  /// whoever destroys the queue can wait for it.
  std::ptrdiff_t claim(std::ptrdiff_t most, claimed_waiters<Waits>& into) noexcept {
    std::ptrdiff_t n = 0;
    for (node* w = first_; n < most && w != nullptr;) {
      node* const next = w->behind;
      if (w->claim()) {
        remove(*w);
        into.add(*w);
        ++n;
      }
      w = next;
    }
    return n;
  }
  /// Has somebody in it not timed out?
  bool awaited() const noexcept {
    for (node const* w = first_; w != nullptr; w = w->behind) {
      if (!w->expired()) return true;
    }
    return false;
  }

 private:
  void link(node* ahead, node& w, node* behind) noexcept {
    w.ahead = ahead;
    w.behind = behind;
    (ahead != nullptr ? ahead->behind : first_) = &w;
    (behind != nullptr ? behind->ahead : last_) = &w;
  }

  template <class T>
  using plain = typename Waits::sync::template plain<T>;
  plain<node*> first_{nullptr};
  plain<node*> last_{nullptr};
};

}  // namespace nopal::core
