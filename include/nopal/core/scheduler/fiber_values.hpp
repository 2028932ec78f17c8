#pragma once

// The fiber-local values of one fiber, one job or one thread off all pools. A strand knows those that its code sees (worker::values), and
// what it forks sees the same. Who has them, and who carries them: README.md, "Fiber-local values". Next: ../../fiber_local.hpp, which makes
// and finds values.

#include <atomic>

#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The place of one value in the list of its owner.
struct fiber_value {
  void (*end)(fiber_value& me) noexcept;  ///< destroys the value, if there is one, and frees this
  std::atomic<void const*> of;            ///< whose value it is, a fiber_local's; null: none, for the next that needs a place
  fiber_value* older = nullptr;
};

/// All who see the values may find and add at the same time: children that were forked run in parallel. Only the owner ends them, when its
/// children have been joined. Trivially destructible, for a thread's.
class NOPAL_API fiber_values {
 public:
  constexpr fiber_values() noexcept = default;
  fiber_values(fiber_values const&) = delete;
  fiber_values& operator=(fiber_values const&) = delete;

  /// relaxed: a hint; or who added one was joined.
  bool empty() const noexcept { return newest_.load(std::memory_order_relaxed) == nullptr; }
  /// The place of `slot`, or null. O(places).
  fiber_value* find(void const* slot) const noexcept {
    // acquire, both: pair with add
    for (fiber_value* v = newest_.load(std::memory_order_acquire); v != nullptr; v = v->older) {
      if (v->of.load(std::memory_order_acquire) == slot) return v;
    }
    return nullptr;
  }
  /// Makes `fresh` the place of `slot`, unless there is one; or an old place, whose fiber_local is gone. Returns the place. The caller frees
  /// `fresh` if that is another.
  NOPAL_COLD fiber_value& add(fiber_value& fresh, void const* slot) noexcept;
  /// Takes those of `other`, which nobody sees any more; this has none. By the owner of both.
  void take(fiber_values& other) noexcept {
    // relaxed, all: no other thread knows the two
    newest_.store(other.newest_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    other.newest_.store(nullptr, std::memory_order_relaxed);
  }
  /// Destroys all values, the newest first, also those that their destructors make. By the owner, in whose strand they are seen. Another
  /// worker may run the caller afterwards.
  void end() noexcept {
    if (!empty()) [[unlikely]]
      end_slowly();
  }

 private:
  NOPAL_COLD void end_slowly() noexcept;

  std::atomic<fiber_value*> newest_{nullptr};
  basic_spin_lock<std_sync> lock_;  // of add
};

/// Those of the calling thread: its own; or what thread_sees has set.
NOPAL_API NOPAL_COLD fiber_values* values_of_thread() noexcept;
/// Those that the caller sees. They outlive the call that asks.
NOPAL_INLINE fiber_values* values_here() noexcept {
  fork_state* const s = state_here();
  if (s->works()) [[likely]] {
    if (fiber_values* const v = static_cast<worker*>(s)->values; v != nullptr) [[likely]]
      return v;
  }
  return values_of_thread();
}
/// From now on the calling thread, which works for no pool, sees `v`; null: its own.
NOPAL_API void thread_sees(fiber_values* v) noexcept;
/// Others may have added values to the calling thread's: they end with the thread.
NOPAL_API NOPAL_COLD void thread_lent_its_values() noexcept;
/// A job has ended, at the base of the strand that runs here, whose arena is empty: while this lives, ordinary functions run there, such as
/// the destructors of what the job was made of. They may fork and wait, so another worker may run the caller afterwards.
class functions_at_base {
 public:
  functions_at_base() noexcept { current()->begin_without_tasks(); }
  functions_at_base(functions_at_base const&) = delete;
  functions_at_base& operator=(functions_at_base const&) = delete;
  ~functions_at_base() { current()->alarm = worker::no_alarm; }
};
/// So: ends the values of the job.
NOPAL_API NOPAL_COLD void end_values_of_job(fiber_values& v) noexcept;
inline void end_of_job(fiber_values& v) noexcept {
  if (!v.empty()) [[unlikely]]
    end_values_of_job(v);
}

}  // namespace nopal::core
