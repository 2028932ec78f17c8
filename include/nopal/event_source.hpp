#pragma once

// event_source: brings events to a pool whose workers have nothing to do: epoll, io_uring, MPI. A pool gets it by
// pool_options::experimental. Next: options.hpp; core/sleep/README.md, "Events", how workers wait in it, and why no wake-up is lost.

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI {

/// A place where events come from outside of the pool, such as an epoll instance. A worker that finds no work polls it, and one worker at a
/// time waits in it instead of sleeping. While all workers are busy the pool's timer polls it, once in a millisecond; once in
/// two or four as long as workers themselves look that often, between two strands. No two threads are in `poll` and `wait` at a time, and
/// what one call wrote the next one sees.
///
/// Who waits for an event by a counter of its own leaves by nopal::stopped where it is asked to stop, and `poll` must not count that one
/// down any more: let it wait in nopal::without_stop, or forget it first, under a lock that `poll` holds too.
class NOPAL_API event_source {
 public:
  event_source() = default;
  event_source(event_source const&) = delete;
  event_source& operator=(event_source const&) = delete;
  virtual ~event_source();

  /// Looks once, does not wait, and wakes waiters for what has happened, by counter::done and other functions that do not wait. It must not
  /// fork or wait. It may take back wakes that came before it. By a worker between two strands, or the pool's timer thread.
  virtual void poll() noexcept = 0;
  /// Waits until something happens, or until `wake` is called, or was called since the last `poll` or wait. It may return for no reason.
  /// Then the worker calls `poll`, and no other thread is in the source before: so this may keep events for it.
  virtual void wait() noexcept = 0;
  /// Ends the present wait; if there is none, the next, unless a `poll` comes before. Any thread, at any time: for epoll, a write to an
  /// eventfd that it watches. Another thread may be in `poll` meanwhile: so this must not wait for a lock that `poll` holds while it wakes.
  virtual void wake() noexcept = 0;
};

}  // namespace nopal
