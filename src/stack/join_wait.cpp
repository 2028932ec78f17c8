#include "nopal/core/stack/join_wait.hpp"

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/stack/home.hpp"
#include "nopal/core/stack/suspension.hpp"

namespace nopal::inline NOPAL_ABI::core {

void resume(join_waiter waiting) noexcept {
  if (waiting.is_on_top()) return waiting.on_top().resume();
  resume_at_home(waiting.left());
}

// The children run elsewhere, and may arrive at any time. Either all have arrived, or the last one resumes this stack.
void wait_at_join(join_word& j, std::int64_t n, join_waiter& waiting) noexcept {
  waits_for const why{"a join", nullptr, wait_kind::join};
  if (waits_on_top(*current(), &j)) {
    if (!j.complete(n))
      wait_on_top(why, &j, [&](top_wait& mine) noexcept {
        waiting = join_waiter{mine};
        return !j.announce(n);
      });
    return;
  }
  for (int k = 0; !j.complete(n); ++k) {
    if (k % tuning::polls_before_suspending_again == 0 && suspend(why, true, [&](stack& mine) noexcept {
          waiting = join_waiter{mine};
          return j.announce(n);
        })) {
      return;
    }
    std_sync::give_way(k);
  }
}

}  // namespace nopal::core
