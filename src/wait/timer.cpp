#include "nopal/core/wait/timer.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/observe/observer.hpp"
#include "nopal/core/scheduler/threads.hpp"

namespace nopal::inline NOPAL_ABI::core {

static constinit thread_local timer const* of_this_thread = nullptr;

bool timer::is_here() const noexcept { return of_this_thread == this; }

timer_entry::timer_entry(timer* t, waiter& w, time_point when, stop_region* region) : timer_{t}, region_{region}, limit_{w}, stop_{w} {
  w.timed = true;
  if (t == nullptr) return;
  own_.insert({when, 0, this});
  std::lock_guard const guard{t->mutex_};
  t->start_thread();
}

// As soon as the timer or the request knows the waiter, it may wake it. The waiter's frame stays until this has started the other: the end
// of the entry takes the lock bit of the request first.
void timer_entry::start() noexcept {
  if (region_ == nullptr) return start_timer();
  stop_.start(region_->request, [this]() noexcept { start_timer(); });
}

void timer_entry::start_timer() noexcept {
  if (timer_ == nullptr) return;
  std::lock_guard const guard{timer_->mutex_};
  auto node = own_.extract(own_.begin());
  node.value().number = ++timer_->entries_;
  at_ = timer_->queue_.insert(std::move(node)).position;
  limit_.waits = true;
  if (at_ == timer_->queue_.begin()) timer_->changes();
}

timer_entry::~timer_entry() {
  if (region_ != nullptr) stop_.end(region_->request);
  if (timer_ == nullptr) return;
  std::lock_guard const guard{timer_->mutex_};
  if (limit_.waits) timer_->queue_.erase(at_);
}

// Under the mutex, for which the timer's thread may wait. seq_cst: pairs with the load in serve.
void timer::changes() noexcept {
  changes_.fetch_add(1, std::memory_order_seq_cst);
  std_sync::wake(changes_);
}

void timer::start() {
  std::lock_guard const guard{mutex_};
  start_thread();
}

// Under the mutex.
void timer::start_thread() {
  if (thread_.joinable()) return;
  only_own_signals const until_it_has_begun;
  try {
    thread_ = std::thread{[this] { loop(); }};
  } catch (std::system_error const& e) {
    throw std::system_error{e.code(), "nopal: no thread for the time limits of a pool; raise the limit on threads"};
  }
}

bool timer::call_after(later what, std::chrono::nanoseconds delay, void (*f)(void*) noexcept, void* with) noexcept {
  std::lock_guard const guard{mutex_};
  try {
    start_thread();
  } catch (std::exception const&) {  // no thread, or no memory for one
    return false;
  }
  requests_[static_cast<std::size_t>(what)] = {now_here() + delay, f, with};
  changes();
  return true;
}

void timer::call_after_here(later what, std::chrono::nanoseconds delay, void (*f)(void*) noexcept, void* with) noexcept {
  if (calls_) return static_cast<void>(call_after(what, delay, f, with));
  requests_[static_cast<std::size_t>(what)] = {now_here() + delay, f, with};
}

bool timer::idle() noexcept {
  std::lock_guard const guard{mutex_};
  return queue_.empty();
}

// The program may have bound the thread that started the timer, whose CPUs were inherited. The timer's thread runs on any CPU of the
// process.
static void run_anywhere() noexcept {
  cpu_set_t all;
  // If the kernel refuses, the thread stays on the CPUs that it has.
  if (::sched_getaffinity(::getpid(), sizeof all, &all) == 0) ::sched_setaffinity(0, sizeof all, &all);
}

void timer::loop() noexcept {
  of_this_thread = this;
  take_own_signals();
  name_this_thread(name_, "timer");
  run_anywhere();
  if (observed_ == nullptr) return serve();
  observed_->timer_begins();
  serve();
  observed_->timer_ends();
}

// The timer's thread: sleeps until the first deadline or request, then serves it. Waiters enter and leave the queue at the same time, under
// the mutex. A request runs without the mutex, since it may take long; a waiter is woken under it, as basic_deadline needs.
void timer::serve() noexcept {
  std::unique_lock guard{mutex_};
  bool settled = false;  // the workers are at rest, under a controlled schedule
  while (!stopping_) {
    request& call_next = *std::ranges::min_element(requests_, {}, &request::when);
    time_point const next = std::min(call_next.when, queue_.empty() ? time_point::max() : queue_.begin()->when);
    time_point const now = now_here();
    if (next > now) {
      settled = false;
      std::uint32_t const seen = changes_.load(std::memory_order_seq_cst);  // under the mutex: pairs with changes
      guard.unlock();
      if (next == time_point::max()) {
        std_sync::wait(changes_, seen);
      } else {
        std_sync::wait_for(changes_, seen, std::chrono::nanoseconds{next - now}.count());
      }
      guard.lock();
    } else if (next == call_next.when) {
      auto const call = std::exchange(call_next, {});
      guard.unlock();
      calls_ = true;
      call.f(call.with);
      calls_ = false;
      guard.lock();
    } else if (waits_for_rest_ && !std::exchange(settled, true)) {
      guard.unlock();
      observed_->settle();
      guard.lock();
    } else {
      settled = waits_for_rest_ && !observed_->at_rest();  // if they do not come to rest, all that is due is woken at once
      timer_entry& t = *queue_.begin()->entry;
      queue_.erase(queue_.begin());
      t.limit_.expire();
    }
  }
}

void timer::stop() noexcept {
  {
    std::lock_guard const guard{mutex_};
    stopping_ = true;
    changes();
  }
  if (thread_.joinable()) thread_.join();
  stopping_ = false;  // only this thread knows the timer now; a pool that starts again may need it again
}

}  // namespace nopal::core
