#include "nopal/core/timer.hpp"

#include <system_error>

#include "nopal/core/waiter.hpp"

namespace nopal::core {

timer::ticket::ticket(timer& t, waiter& w, time_point when) : timer_{t}, waiter_{w} {
  own_.emplace(when, this);
  w.timed = true;
  std::lock_guard const guard{t.mutex_};
  if (t.thread_.joinable()) return;
  try {
    t.thread_ = std::thread{[&t] { t.loop(); }};
  } catch (std::system_error const& e) {
    throw std::system_error{e.code(), "nopal: no thread for the time limits of a pool; raise the limit on threads"};
  }
}

void timer::ticket::start() noexcept {
  std::lock_guard const guard{timer_.mutex_};
  at_ = timer_.queue_.insert(own_.extract(own_.begin())).position;
  waits_ = true;
  if (at_ == timer_.queue_.begin()) timer_.changed_.notify_one();
}

timer::ticket::~ticket() {
  std::lock_guard const guard{timer_.mutex_};
  if (waits_) timer_.queue_.erase(at_);
}

void timer::loop() noexcept {
  std::unique_lock guard{mutex_};
  while (!stopping_) {
    if (queue_.empty()) {
      changed_.wait(guard);
      continue;
    }
    auto const first = queue_.begin();
    if (first->first > std::chrono::steady_clock::now()) {
      changed_.wait_until(guard, time_point{first->first});
      continue;
    }
    ticket& t = *first->second;
    queue_.erase(first);
    t.waits_ = false;
    if (!t.waiter_.claim()) continue;  // somebody else wakes it
    t.expired_ = true;
    t.waiter_.wake();  // it cannot leave before it has had the mutex, in ~ticket
  }
}

void timer::stop() noexcept {
  {
    std::lock_guard const guard{mutex_};
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace nopal::core
