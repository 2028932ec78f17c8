#pragma once

// Events from outside of a pool: who looks into its event source, one thread at a time. README.md, "Events". Next: parking.hpp, where a worker waits
// in it; ../scheduler/search.hpp, which looks; src/sleep/events.cpp, the timer that looks while all workers are busy.

#include <atomic>
#include <memory>
#include <utility>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/event_source.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;

class pool_events {
 public:
  explicit pool_events(std::shared_ptr<event_source> source) noexcept : source_{std::move(source)} {}

  /// Null: the pool has none.
  event_source* source() const noexcept { return source_.get(); }

  /// Looks once, if there is a source and no other thread is in it. Any thread.
  void poll() noexcept {
    if (source_ == nullptr || !enter()) return;
    source_->poll();
    leave();
  }
  /// True: no other thread is in it until `leave`.
  bool enter() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }  // acquire: pairs with leave, for what belongs to the source
  void leave() noexcept { taken_.store(false, std::memory_order_release); }            // release: as above

 private:
  std::shared_ptr<event_source> const source_;
  alignas(destructive_size) std::atomic<bool> taken_{false};
};

/// Worker i's thread has entered the source, and waits there as parking::watch says; then it leaves. By that thread.
void watch_events(pool_state& pool, unsigned i) noexcept;
/// While no worker waits in the source, the timer's thread looks there, once in tuning::between_polls. Called when the pool's threads begin.
void look_at_events_later(pool_state& pool) noexcept;

}  // namespace nopal::core
