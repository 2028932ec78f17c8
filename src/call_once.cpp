#include "nopal/call_once.hpp"

#include "wait/turn.hpp"

namespace nopal::inline NOPAL_ABI {

// The function may have returned when the turn comes.
once_flag::turn::turn(once_flag& flag) : flag_{flag} {
  core::take_turn(flag.mutex_,
                  "nopal: a function that call_once runs has called call_once with the same flag and would wait for its own end; "
                  "use what it makes only after it has returned, or give what it needs a flag of its own");
}

once_flag::turn::~turn() { core::pass_turn(flag_.mutex_); }

}  // namespace nopal
