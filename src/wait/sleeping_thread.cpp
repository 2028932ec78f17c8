#include "nopal/core/wait/sleeping_thread.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "nopal/core/architecture/thread_words.hpp"
#include "nopal/core/base/coarse_clock.hpp"

namespace nopal::inline NOPAL_ABI::core {

sleeping_thread::sleeping_thread(waits_for const& why) noexcept : sleeping_thread{why, this_thread(), true} {}
sleeping_thread::sleeping_thread(waits_for const& why, std::uintptr_t self) noexcept : sleeping_thread{why, self, false} {}

sleeping_thread::sleeping_thread(waits_for const& why, std::uintptr_t self, bool outside) noexcept
    : why_{why}, id_{static_cast<pid_t>(::syscall(SYS_gettid))}, self_{self}, outside_{outside}, since_{coarse_now()} {
  std::lock_guard const guard{mutex_};
  next_ = first_;
  if (first_ != nullptr) first_->before_ = this;
  first_ = this;
}

sleeping_thread::~sleeping_thread() {
  std::lock_guard const guard{mutex_};
  (before_ != nullptr ? before_->next_ : first_) = next_;
  if (next_ != nullptr) next_->before_ = before_;
}

}  // namespace nopal::core
