#include "nopal/mutex.hpp"

#include <system_error>

// Who gets it. Unlocking frees the mutex and wakes the first waiter, and whoever comes first has it: handing it over to one that has yet
// to be switched to would make everybody wait for that switch, and once there was a queue it would never go (1 to 2 µs a lock and unlock
// by 100 fibers on 2 CPUs, where this takes 20 to 90 ns). So that nobody waits for ever, one that was woken and came too late waits at the
// front again, and the third time it is handed over. At most one is on its way: unlocking meanwhile wakes nobody.
//
// A waiter enters the queue having seen an owner, under the lock bit. That owner cannot leave by the compare-exchange of unlock, since the
// word is no longer it alone, but comes to the queue. He wakes the first, or one is on its way: that one takes the mutex, and will come to
// the queue, or finds an owner again, who will.

namespace nopal {

using core::lock_bit;
using core::mutex_waiter;

static_assert(alignof(core::stack) >= 8, "the flags of a mutex lie in its owner's address");

namespace {
constexpr unsigned most_wakeups = 2;  // in vain
constexpr int most_looks = 10;  // before it parks: less than parking takes
}  // namespace

std::uintptr_t core::this_thread() noexcept {
  alignas(8) static thread_local constinit char mine = 0;
  return reinterpret_cast<std::uintptr_t>(&mine);
}

// Each store that ends the lock bit releases the word and the queue for the next who takes it.

// True: `me` owns it.
bool mutex::take(mutex_waiter const& me) noexcept {
  std::uintptr_t const w = lock_bit(word_, locked);
  bool const free = (w & owner) == 0;
  word_.store(free ? owned_by(me, w) : w, std::memory_order_release);
  return free;
}

// On another stack than the one that waits. False: it owns it already.
bool mutex::enqueue(mutex_waiter& me) noexcept {
  std::uintptr_t const w = lock_bit(word_, locked);
  bool const waits = (w & owner) != 0;
  if (!waits) {
    me.owns = true;
    word_.store(owned_by(me, w), std::memory_order_release);
  } else if (me.woken == 0) {
    waiters_.push_back(me);
    word_.store(w | waited_for, std::memory_order_release);  // from here on `me` may be gone
  } else {
    waiters_.push_front(me);
    word_.store((w | waited_for) & ~on_its_way, std::memory_order_release);  // the same
  }
  return waits;
}

void mutex::lock_slowly() {
  // relaxed: if it is us, we have written it
  if ((word_.load(std::memory_order_relaxed) & owner) == core::self()) {
    throw std::system_error{std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "nopal: a mutex was locked by the fiber, task or thread that has it already and would wait for itself; unlock "
                            "it first, or pass on that it is locked"};
  }
  lock_in_turn();
}

void mutex::lock_in_turn() noexcept {
  mutex_waiter me{core::self()};
  for (int k = 0; k < most_looks; ++k) {
    if ((word_.load(std::memory_order_relaxed) & owner) == 0 && take(me)) return;  // relaxed: take looks again
    core::cpu_relax();
  }
  for (;;) {
    core::park(me, {"a mutex", this}, [&]() noexcept { return enqueue(me); });
    if (me.owns) return;
    ++me.woken;
    if (take(me)) return;
  }
}

bool mutex::try_lock_slowly() noexcept { return take(mutex_waiter{core::self()}); }

void mutex::unlock_slowly(std::uintptr_t who) noexcept {
  // relaxed: if it is us, we have written it
  if (std::uintptr_t const has = word_.load(std::memory_order_relaxed) & owner; has != who) {
    core::die(has == 0 ? "a mutex was unlocked that is not locked; unlock once for each lock, or let a std::lock_guard do it"
                       : "a mutex was unlocked by another fiber, task or thread than the one that has locked it, or by a task after a "
                         "co_await; unlock it where it was locked, before any co_await, or use a nopal::semaphore{1}");
  }
  std::uintptr_t after = lock_bit(word_, locked) & on_its_way;
  mutex_waiter* next = nullptr;
  if (after == 0) next = static_cast<mutex_waiter*>(waiters_.pop_front());
  if (next != nullptr) {
    next->owns = next->woken == most_wakeups;
    after = next->owns ? next->self : on_its_way;
  }
  if (!waiters_.empty()) after |= waited_for;
  word_.store(after, std::memory_order_release);
  if (next != nullptr) next->wake();
}

void mutex::die_destroyed() noexcept {
  bool const awaited = (word_.load(std::memory_order_relaxed) & (waited_for | on_its_way)) != 0;
  core::die(awaited ? "a mutex was destroyed while somebody waits for it; let it outlive every lock"
                    : "a mutex was destroyed while it is locked; unlock it first");
}

}  // namespace nopal
