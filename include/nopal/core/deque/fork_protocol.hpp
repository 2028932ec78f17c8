#pragma once

// The fork protocol, which tasks, parallel_invoke and scopes share: offer what comes later, run what comes first, take the offer back.
// Called on a worker. Next: deque.hpp; where the offer was stolen, task/cold_path.hpp, stack/native_fork.hpp and stack/scope_fork.hpp.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"

namespace nopal::core {

/// What has become of an offer.
enum class offer {
  taken_back,  ///< it is the caller's again
  lost,        ///< it is not private any more: the caller's cold path finds out whether it was stolen
  left,        ///< run() said that the caller must not take it back
};

/// Offers `c` in the deque of `w`, the calling worker, while run() runs. `here()` gives the worker that runs the caller afterwards: run may
/// have moved the native stack to another one.
template <class Worker, class Run, class Here>
NOPAL_INLINE offer offer_while(Worker* w, continuation c, Run run, Here here) {
  w->work.push(c.word());
  if (run()) return offer::left;
  return here()->work.pop() ? offer::taken_back : offer::lost;
}

}  // namespace nopal::core
