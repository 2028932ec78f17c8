#pragma once

// The events that one worker has recorded: the newest, as many as fit. The thread that works as the worker writes, without a lock, an
// allocation or an atomic read-modify-write; any thread reads at any time, and detects what was overwritten during the read. ../README.md,
// "The ring". Next: pool_trace.hpp, which has one for each worker; shared_ring.hpp, for threads outside the pool.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "nopal/core/compiler/config.hpp"
#include "trace/src/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What was read of a ring.
struct trace_copy {
  std::vector<trace_event> events;  ///< in the order in which they were recorded
  std::uint64_t dropped = 0;        ///< the number of older events that were overwritten before they were read
  std::int64_t asleep_since = 0;    ///< when the worker's thread fell asleep; 0: it does not sleep
};

class trace_ring {
 public:
  /// `room`: the number of events kept; rounded up to a power of two. `id`: unique among the rings of the process. Throws std::bad_alloc.
  trace_ring(std::size_t room, std::uint64_t id);

  // ---- By the worker.

  /// Records an event, now. `text` and `object` are what event.hpp says of the kind.
  NOPAL_COLD void record(traced kind, std::uint64_t extra = 0, void const* text = nullptr, void const* object = nullptr) noexcept;
  /// A strand begins on the lane, or is resumed there.
  NOPAL_COLD void begins(traced kind, std::uint64_t extra = 0, void const* text = nullptr, void const* object = nullptr) noexcept;
  /// The worker searches. Records `ended` if a strand has begun since the last time.
  NOPAL_COLD void searches() noexcept;
  /// The worker leaves the strand that has begun.
  NOPAL_COLD void leaves(traced kind, std::uint64_t extra, void const* text, void const* object) noexcept;
  /// The worker's own thread is about to sleep.
  NOPAL_COLD void rests() noexcept;
  /// It has got up. Records a sleep if it `slept`; else it found a reason not to.
  NOPAL_COLD void gets_up(bool slept) noexcept;
  /// It begins a nap; the nap has ended.
  NOPAL_COLD void begins_nap() noexcept;
  NOPAL_COLD void ends_nap() noexcept;
  /// The pool has `n` native stacks. Records the number if it has changed since the last call.
  NOPAL_COLD void stacks(std::uint64_t n) noexcept;
  /// A span begins. Returns its id, which no other span of the process has.
  NOPAL_COLD std::uint64_t begin_span(char const* name) noexcept;
  NOPAL_COLD void end_span(std::uint64_t id) noexcept;
  /// True if the span with that id began in a trace_ring; false if it is one of outside_spans.hpp.
  static bool is_workers(std::uint64_t id) noexcept { return id >> span_numbers != 0; }

  // ---- By any thread, one at a time.

  /// Returns the events since the last call. Throws std::bad_alloc; then the next call returns them.
  trace_copy take();

 private:
  struct place {
    std::atomic<std::int64_t> time{0};
    std::atomic<std::uint64_t> what{0}, a{0}, b{0};
  };
  void put(trace_event const& e) noexcept;
  void rested(traced kind, std::int64_t since) noexcept;

  static constexpr unsigned span_numbers = 40;  // bits of an id that count the spans of one ring

  std::size_t const mask_;
  std::unique_ptr<place[]> const places_;
  std::atomic<std::uint64_t> count_{0};        // events recorded
  std::atomic<std::int64_t> asleep_since_{0};  // relaxed everywhere: one word, for a picture
  std::int64_t naps_since_ = 0;
  bool runs_ = false;  // a strand has begun, and not ended
  std::uint64_t last_stacks_ = 0;
  std::uint64_t next_span_;
  std::uint64_t taken_ = 0;  // events recorded when the last take began; the reader's
};

}  // namespace nopal::core
