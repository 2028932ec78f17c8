#include "nopal/core/wait/completion.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

#include "nopal/core/base/in_order.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"

namespace nopal::inline NOPAL_ABI::core {

void completion::set() noexcept {
  in_order();
  for_threads_.set();
  if (!for_stacks_.done_if_quiet(1)) for_stacks_.done_slowly(1);
}

void completion::wait() {
  in_order();
  if (is_set()) return;
  if (wait_may_end_early()) [[unlikely]] {
    // Also on a thread that works for no pool, since the event knows no request. The setter keeps the completion alive until set has
    // returned.
    if (!for_stacks_.wait_until(0, time_point::max(), "a future", wait_kind::nothing_more)) throw_stopped();
    return;
  }
  if (current_or_null() == nullptr) return sleep_until_set(for_threads_, {"a future", this});
  for_stacks_.wait(0, "a future", wait_kind::nothing_more);
}

bool completion::wait_until(time_point deadline) {
  in_order();
  auto now = now_by(deadline);
  if (is_set() || deadline <= now) return is_set();  // a caller that only tests needs no timer entry, and no exception
  if (current_or_null() != nullptr || wait_may_end_early()) {
    bool const in_time = for_stacks_.wait_until(0, deadline, "a future, with a time limit", wait_kind::nothing_more);
    if (!in_time) throw_if_wait_was_stopped();
    return in_time;
  }
  sleeping_thread const listed{{"a future, with a time limit", this, wait_kind::nothing_more, 0, nanoseconds_of(deadline)}};
  for (; now < deadline; now = std::chrono::steady_clock::now()) {
    if (for_threads_.wait_for(std::chrono::nanoseconds{deadline - now}.count())) return true;
  }
  return is_set();
}

void throw_empty_future(char const* what) {
  throw std::logic_error{std::string{"nopal: "} + what +
                         " on an empty future: its result was taken by get() or co_await, it was moved from, or it never had a job. Take "
                         "the result once and keep it, move on the future that pool::submit returns, or ask valid() first"};
}

}  // namespace nopal::core
