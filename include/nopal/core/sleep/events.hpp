#pragma once

// Events from outside of a pool: which thread looks into the pool's event source; one at a time. README.md, "Events". Next: parking.hpp,
// where a worker waits in it; ../scheduler/event_watch.hpp, the timer that looks while no worker waits.

#include <atomic>
#include <memory>
#include <utility>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/event_source.hpp"

namespace nopal::inline NOPAL_ABI::core {

class pool_events {
 public:
  explicit pool_events(std::shared_ptr<event_source> source) noexcept : source_{std::move(source)} {}

  /// Null if the pool has none.
  event_source* source() const noexcept { return source_.get(); }

  /// Looks once, if there is a source and no other thread is in it. Any thread.
  void poll() noexcept {
    if (source_ == nullptr || !enter()) return;
    source_->poll();
    leave();
  }
  /// Waits in the source, which the caller has entered. By a worker.
  void wait() noexcept {
    waits_.store(true, std::memory_order_relaxed);  // relaxed, here and below: a hint for the timer
    source_->wait();
    waits_.store(false, std::memory_order_relaxed);
  }
  /// True if a worker waits in the source.
  bool somebody_waits() const noexcept { return waits_.load(std::memory_order_relaxed); }  // relaxed: as in wait
  /// True: the caller is in the source, and no other thread is until `leave`.
  // acquire and release pair with each other, for what belongs to the source
  bool enter() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }
  void leave() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::shared_ptr<event_source> const source_;
  alignas(destructive_size) std::atomic<bool> taken_{false};
  std::atomic<bool> waits_{false};
};

}  // namespace nopal::core
