#pragma once

// event_source: what brings events to a pool whose workers have nothing to do: epoll, io_uring, MPI. It is given to a pool by
// pool_options::experimental. Next: options.hpp; core/sleep/README.md, "Events", how workers wait in it, and why no wake-up is lost.

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI {

/// A place where events come from outside of the pool, such as an epoll instance. A worker that finds no work looks there, and the last thing that it
/// does is to wait there instead of asleep. While all workers are busy the pool's timer looks there, once in a millisecond. Never two
/// threads at a time are in `poll` and `wait`.
class NOPAL_API event_source {
 public:
  event_source() = default;
  event_source(event_source const&) = delete;
  event_source& operator=(event_source const&) = delete;
  virtual ~event_source();

  /// Looks once, does not wait, and tells those who wait for what has happened, by counter::done and other functions that do not wait. It
  /// must not fork or wait. By a worker between two strands, or the pool's timer thread.
  virtual void poll() noexcept = 0;
  /// Waits until something happens, or until `wake` is called, or has been since the last wait. It may return for no reason. Then `poll` is called.
  virtual void wait() noexcept = 0;
  /// Ends the present wait; if there is none, the next. Any thread, at any time: for epoll, a write to an eventfd that it watches.
  virtual void wake() noexcept = 0;
};

}  // namespace nopal
