#include "nopal/core/scheduler/live_pools.hpp"

namespace nopal::inline NOPAL_ABI::core {

void live_pool::enter(pool_state const& mine, char const* name) noexcept {
  std::lock_guard const guard{mutex_};
  pool_ = &mine;
  name_ = name;
  next_ = first_;
  in_ = &first_;
  if (next_ != nullptr) next_->in_ = &next_;
  first_ = this;
}

void live_pool::leave() noexcept {
  std::lock_guard const guard{mutex_};
  if (in_ == nullptr) return;
  *in_ = next_;
  if (next_ != nullptr) next_->in_ = in_;
  in_ = nullptr;
}

}  // namespace nopal::core
