#pragma once

// The fork protocol, which tasks, parallel_invoke and scopes share: offer what comes later, run what comes first, take the offer back.
// Called on a worker. Next: deque.hpp; where the offer was stolen, task/slow_path.hpp, stack/native_fork.hpp and stack/scope_child.hpp.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Offers `c` in the deque of `w`, which is the calling worker.
template <class Worker>
NOPAL_INLINE void make_offer(Worker& w, continuation c) noexcept {
  w.work.push(c.word());
}
/// Takes back the newest offer of `w`, which is the calling worker now; the native stack may have moved since make_offer. False: the offer
/// is not private any more, and the front end's slow path finds out whether a thief has it.
template <class Worker>
NOPAL_INLINE bool take_back(Worker& w) noexcept {
  return w.work.pop();
}

}  // namespace nopal::core
