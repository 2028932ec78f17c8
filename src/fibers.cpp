#include "nopal/fiber.hpp"
#include "nopal/fiber_local.hpp"
#include "nopal/fiber_name.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/task/fork_state.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_mutex.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "nopal/core/wait/timer.hpp"
#include "wait/turn.hpp"

namespace nopal::inline NOPAL_ABI {

// ---- fiber.

core::waited yield() noexcept {
  if (!core::yield_stack()) std::this_thread::yield();
  return {};
}

namespace {

// The wait of a thread or a stack that only a time, or a request to stop, ends. `t`, the timer: null off a pool.
void sleep_in(core::stop_region& region, core::timer* t, std::chrono::steady_clock::time_point until) {
  core::waiter me;
  core::waits_for const why{"a time", nullptr, core::wait_kind::nothing_more, 0, core::nanoseconds_of(until)};
  core::timer_entry entry{t, me, until, &region};
  auto const start = [&]() noexcept {
    entry.start();
    return true;
  };
  if (t != nullptr) return core::await_wake(me, why, start);
  core::sleeping_thread const listed{why};
  static_cast<void>(core::thread_awaits_wake_until(me, until, start));
}

}  // namespace

void core::sleep_here(time_point t) {
  core::worker* const w = core::current_or_null();
  core::stop_region* const region = core::region_of_wait();
  if (region == nullptr) {
    core::sleeping_thread const listed{{"a time", nullptr, core::wait_kind::nothing_more, 0, core::nanoseconds_of(t)}};
    // In parts: LLVM's sleep_until subtracts the present from the time, and for the earliest of all sleeps for ever.
    using namespace std::chrono_literals;
    for (auto left = core::time_left(t); left.count() > 0; left = core::time_left(t)) {
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, 1h));
    }
    return;
  }
  if (t <= core::now_by(t)) return static_cast<void>(yield());
  core::region_deadline const of_region{region};
  auto const until = std::min(core::deadline_here(t), of_region.here());
  sleep_in(*region, w != nullptr ? &w->pool().timer : nullptr, until);
  of_region.passed(until);
  if (t > core::now_by(t)) core::throw_if_wait_was_stopped();
}

namespace core {

// A task sleeps without a stack.
bool task_waits_for<sleeping>::waits(bool woken) {
  if (woken) {
    static_cast<void>(end_limit());
    if (end_.until > now_by(end_.until)) throw_if_wait_was_stopped();
    if (!end_.is_ahead()) return false;
  }
  start(begin_limit(me_, end_.until, false));
  return true;
}
void task_waits_for<sleeping>::wait_here() {
  do sleep_here(end_.until);
  while (end_.is_ahead());
}

}  // namespace core

// ---- fiber_name.

fiber_name::fiber_name(std::string_view name) noexcept : name_{}, of_{core::state_here()->here} {
  if (of_ == nullptr) return;
  name = name.substr(0, core::stack_name::most);
  std::transform(name.begin(), name.end(), name_.text, [](char c) {
    auto const code = static_cast<unsigned char>(c);
    return code < 0x20 || code == 0x7f ? '?' : c;
  });
  name_.outer = of_->name.load(std::memory_order_relaxed);  // relaxed: only code on this stack writes it
  of_->name.store(&name_, std::memory_order_release);       // release: pairs with the acquire of name_of in report.cpp, for the text
}

fiber_name::~fiber_name() {
  if (of_ == nullptr) return;
  // relaxed, here and below: only code on this stack writes it. A report that reads the old name copies it by peek, and then reads it
  // again.
  if (core::state_here()->here != of_ || of_->name.load(std::memory_order_relaxed) != &name_) {
    core::die(
        "a nopal::fiber_name ended on another native stack than its own, in a task after a co_await, or not in reverse order; "
        "let each end before the next co_await, and the inner ones before the outer ones");
  }
  of_->name.store(name_.outer, std::memory_order_relaxed);
}

}  // namespace nopal

namespace nopal::inline NOPAL_ABI::core {

// ---- fiber_local.

/// The place of one value, and the turn to make it.
struct any_fiber_local::place : fiber_value {
  any_fiber_local* owner;
  std::atomic<void*> value{nullptr};
  basic_mutex<stack_waits> making;

  explicit place(any_fiber_local& o) noexcept : fiber_value{free, nullptr}, owner{&o} {}

  /// Destroys the value, if there is one. By its fiber, while nobody else uses it.
  void end_value() noexcept {
    void* const v = value.exchange(nullptr, std::memory_order_seq_cst);
    if (v == nullptr) return;
    owner->end_(v);
    owner->values_.fetch_sub(1, std::memory_order_seq_cst);
  }
  /// fiber_value::end.
  static void free(fiber_value& me) noexcept {
    auto& self = static_cast<place&>(me);
    self.end_value();
    delete &self;
  }

  class turn {
   public:
    explicit turn(place& p) : place_{p} {
      take_turn(p.making,
                "nopal: making a fiber_local's value has asked for that value; use it only once it is made, or give what making it needs a "
                "fiber_local of its own");
    }
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;
    ~turn() { pass_turn(place_.making); }

   private:
    place& place_;
  };
};

void* any_fiber_local::find_or_make() {
  in_order();
  fiber_values& mine = *values_here();
  auto* at = static_cast<place*>(mine.find(this));
  if (at != nullptr) {
    if (void* const v = at->value.load(std::memory_order_acquire); v != nullptr) return v;  // acquire: pairs with the store below
  } else {
    auto fresh = std::make_unique<place>(*this);
    at = static_cast<place*>(&mine.add(*fresh, this));
    if (at == fresh.get()) static_cast<void>(fresh.release());  // NOLINT(bugprone-unused-return-value): it is in the list
  }
  place::turn const my_turn{*at};
  void* v = at->value.load(std::memory_order_relaxed);  // relaxed: the mutex orders it
  if (v != nullptr) return v;
  at->owner = this;  // of an old place, another's
  v = make_(*this);
  values_.fetch_add(1, std::memory_order_seq_cst);
  at->value.store(v, std::memory_order_release);  // release: pairs with the acquires in find and above
  if (current_or_null() == nullptr) thread_lent_its_values();
  return v;
}

void* any_fiber_local::find() const noexcept {
  in_order();
  auto const* const at = static_cast<place const*>(values_here()->find(this));
  return at != nullptr ? at->value.load(std::memory_order_acquire) : nullptr;  // acquire: pairs with the store in find_or_make
}

bool any_fiber_local::ends() noexcept {
  if (auto* const at = static_cast<place*>(values_here()->find(this)); at != nullptr) {
    at->end_value();
    at->of.store(nullptr, std::memory_order_release);  // release: pairs with the load in fiber_values::find
  }
  if (values_.load(std::memory_order_seq_cst) == 0) return true;
  die_unless_in_exit(
      "a fiber_local was destroyed while another fiber, job or thread has a value of it; make it static, or wait first for what uses it");
  return false;
}

void die_ending_value(std::exception_ptr const& e) noexcept {
  die_in(nullptr,
         "the destructor of a fiber_local's value has thrown: %s; a fiber ends with that, so nobody could catch it; catch it there",
         message_of(e));
}

}  // namespace nopal::core
