#include "nopal/core/scheduler/leak_check.hpp"

#include <cstddef>
#include <cstdlib>

#include "nopal/core/base/leak_roots.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::inline NOPAL_ABI::core {

// Destructors that the loader calls would be too late. If there is no memory to register f, LeakSanitizer may report leaks that are none.
void call_before_leak_check(void (*f)() noexcept) noexcept {
  if (leaks_are_looked_for()) static_cast<void>(std::atexit(f));
}

// Other threads still work for the pool, so what this notes holds for a moment only, as the check itself does. A context that was left is
// in a frame of the stack that it describes; with AddressSanitizer, in other memory, where that stack's frames may be too.
void note_for_leak_check(pool_state const& pool) noexcept {
  if (!leaks_are_looked_for()) return;
  new_stacks_are_leak_roots.store(true, std::memory_order_relaxed);  // relaxed: see there
  pool.stacks.for_each(
      [](stack const& s) { add_leak_root(s.low(), static_cast<std::size_t>(reinterpret_cast<std::byte const*>(&s + 1) - s.low())); });
  for (worker const* w : pool.workers) {
    for (void const* left : {w->began_on_frame, static_cast<void const*>(w->began_on), w->thread_began_on_frame,
                             static_cast<void const*>(w->thread_began_on)}) {
      add_mapping_as_leak_root(left);  // the first two may be a caller's that has left: then nothing is mapped there, or nothing of use
    }
  }
}

}  // namespace nopal::core
