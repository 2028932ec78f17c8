#pragma once

// The fork protocol, which tasks, parallel_invoke and scopes share: offer what comes later, run what comes first, take the offer back. Next:
// deque.hpp; where the offer was stolen, task/cold_path.hpp, stack/native_fork.hpp and stack/scope_fork.hpp.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"

namespace nopal::core {

enum class offer { taken_back, lost, left };

/// Offers `c` in the deque of `w`, the calling worker, while run() runs. `taken_back`: `c` is the caller's again. `lost`: the worker's slow
/// path decides. `left`: run() said that the caller must not take it back. `here()` gives the worker that runs the caller afterwards.
template <class Worker, class Run, class Here>
NOPAL_INLINE offer offer_while(Worker* w, continuation c, Run run, Here here) {
  w->work.push(c.word());
  if (run()) return offer::left;
  return here()->work.pop() ? offer::taken_back : offer::lost;
}

}  // namespace nopal::core
