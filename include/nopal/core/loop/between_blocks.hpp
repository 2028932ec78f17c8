#pragma once

// What a loop looks at between two of its blocks: the one place for whatever is to end or split a loop from elsewhere. Next: offer.hpp, how
// it splits.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::core {

/// Does a thief ask the caller for work? By the worker that runs the loop now. One comparison, that of each fork; the answer may also be
/// yes for no reason.
NOPAL_INLINE bool between_blocks(worker& w) noexcept { return w.work.must_poll(); }

}  // namespace nopal::core
