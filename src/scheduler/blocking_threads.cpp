#include "nopal/core/scheduler/blocking_threads.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "nopal/core/base/pages.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/threads.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"

namespace nopal::inline NOPAL_ABI::core {

void blocking_threads::give(blocking_call& c) {
  virtual_time::not_interrupted const me{virtual_time::here()};  // others may need the lock
  std::lock_guard const guard{mutex_};
  if (idle_ <= waiting_ && threads_.size() < limit_) start_thread();
  c.next = nullptr;
  (first_ != nullptr ? last_->next : first_) = &c;
  last_ = &c;
  ++waiting_;
  changed_.notify_one();
}

// Under the mutex. A thread that begins counts as idle.
void blocking_threads::start_thread() {
  only_own_signals const until_it_has_begun;
  not_for_leak_check const what_it_is_given;
  try {
    threads_.emplace_back([this] { loop(); });
    ++idle_;
    ++begun_;
  } catch (std::system_error const& e) {
    if (!threads_.empty()) return;  // the call waits for one of these
    throw std::system_error{e.code(), "nopal: no thread for block_on; raise the limit on threads"};
  }
}

void blocking_threads::loop() noexcept {
  take_own_signals();
  name_this_thread(name_, "block");
  std::unique_lock guard{mutex_};
  for (;;) {
    while (first_ == nullptr && !stopping_) changed_.wait(guard);
    if (first_ == nullptr) return;
    blocking_call& c = *first_;
    first_ = c.next;
    --idle_;
    --waiting_;
    guard.unlock();
    continue_in_region(c.region);
    thread_sees(c.values);
    c.begun = std::chrono::steady_clock::now();
    c.run(c);
    c.ended = std::chrono::steady_clock::now();
    continue_in_region(no_region);
    thread_sees(nullptr);
    c.done.set();  // `c` may be gone afterwards
    guard.lock();
    ++idle_;
  }
}

void blocking_threads::stop() noexcept {
  {
    std::lock_guard const guard{mutex_};
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread& t : threads_) t.join();
  threads_.clear();
  idle_ = 0;
  begun_ = 0;
  stopping_ = false;  // only this thread knows them now; a pool that starts again may need threads again
}

unsigned blocking_threads::all_idle() const noexcept {
  unsigned const n = begun_;
  return waiting_ == 0 && idle_ == n ? n : 0;
}

// On a simulated machine: the call runs in real time, also until the deadline of its region, and then takes as long in simulated time. It may
// have waited for a thread, and then ended at the deadline: so it ends then in simulated time too.
NOPAL_COLD static void call_from_simulated(blocking_call& c) {
  time_point const begun = now_here();
  time_point const deadline = c.region != no_region ? deadline_here(region_of(c.region).deadline()) : time_point::max();
  time_point real_deadline = time_point::max();
  std::optional<held_region> until;
  if (deadline != time_point::max()) {
    real_deadline = std::chrono::steady_clock::now() + time_left(deadline);
    until.emplace(make_region({}, real_deadline, c.region));
    c.region = until->id();
  }
  current()->pool().blocking.give(c);
  wait_for_job(c.done, nullptr);
  time_point const end = begun + (c.ended - c.begun);
  waits_for const why{"the end of a block_on, in simulated time", nullptr};
  static_cast<void>(sleep_through(c.ended >= real_deadline ? std::max(end, deadline) : end, why));
}

void call_blocking(blocking_call& c) {
  c.region = inherited_region();
  c.values = values_here();
  if (time_is_simulated()) [[unlikely]]
    return call_from_simulated(c);
  current()->pool().blocking.give(c);
  wait_for_job(c.done, nullptr);
}

}  // namespace nopal::core
