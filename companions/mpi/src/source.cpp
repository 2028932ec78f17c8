#include "source.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <utility>

namespace nopal::inline NOPAL_ABI::mpi {

// A worker has looked for 0.1 ms at each search before it comes here. So it naps at once, longer each time.
static constexpr std::int64_t first_nap = 5'000;
static constexpr std::int64_t longest_nap = 100'000;  // nanoseconds
static constexpr std::int64_t for_ever = -1;

void source::poll() noexcept {
  engine_->tell(std::exchange(found_, nullptr), this);
  engine_->tell(mail(), this);
  if (engine_->has_waiters()) engine_->tell(engine_->look(), this);
}

void source::wait() noexcept {
  // acquire: pairs with wake, for what the waker has brought
  for (std::int64_t nap = first_nap; woken_.exchange(0, std::memory_order_acquire) == 0;) {
    if (engine_->funnelled()) {  // the session's thread looks, and brings mail
      sleep(for_ever);
      continue;
    }
    if (!engine_->has_waiters()) {
      engine_->sleeps_deeply();
      deep_.store(true, std::memory_order_seq_cst);
      if (!engine_->has_waiters()) sleep(for_ever);
      deep_.store(false, std::memory_order_seq_cst);
      engine_->got_up();
      nap = first_nap;
      continue;
    }
    found_ = engine_->look();
    if (found_ != nullptr) return;
    sleep(nap);
    nap = std::min(nap * 2, longest_nap);
  }
}

// release: pairs with the exchange in wait.
void source::wake() noexcept {
  woken_.store(1, std::memory_order_release);
  ::syscall(SYS_futex, &woken_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void source::sleep(std::int64_t nanoseconds) noexcept {
  timespec const t{.tv_sec = 0, .tv_nsec = static_cast<long>(nanoseconds)};
  ::syscall(SYS_futex, &woken_, FUTEX_WAIT_PRIVATE, 0, nanoseconds == for_ever ? nullptr : &t, nullptr, 0);
}

}  // namespace nopal::mpi
