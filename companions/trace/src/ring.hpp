#pragma once

// The events of a trace, and the rings that keep them: one for each worker, one for threads outside. An event is four words: what happened
// on a worker, when, and to which object. Next: timeline.cpp, which makes slices of them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What happened. `a`, `b` and `extra` are the fields of trace_event; those not named are 0. A *lane* is what one worker did. If a
/// strand begins, `a` is an address in the function that it runs.
enum class traced : std::uint8_t {
  nothing,         ///< no event: a place that is not written yet
  strand,          ///< a strand that was ready begins: a fiber, unless the next event says what it is
  job,             ///< a job from an inbox begins
  callers_job,     ///< a job begins; an external caller runs it in the worker's place
  task,            ///< a stolen task is resumed; b: its frame
  moved_task,      ///< a task that another worker has sent is resumed; b: its frame
  branch,          ///< a stolen branch begins
  child,           ///< a child of a scope off the pool begins
  resumed,         ///< a native stack is resumed; a: what it waited for, a text, or null if it was left at a fork; extra: the stack
  ended,           ///< the strand has ended: the worker searches
  suspended,       ///< the strand leaves its native stack; a: what it waits for, a text; b: of which object; extra: the stack
  suspended_task,  ///< a task is left at its join; b: its frame
  joined,          ///< the last child continues with the task that waited at its join; b: its frame
  stays_waiting,   ///< the strand waits on top of its stack; fields as for `suspended`
  stole,           ///< the worker has stolen an entry; extra: the victim
  slept,           ///< the worker's thread woke; a: when it fell asleep, in nanoseconds
  napped,          ///< as `slept`, for a nap of the last thief
  stacks,          ///< a: the number of native stacks that the pool has mapped
  submitted,       ///< a job was submitted, or injected by a caller of run
  spawned,         ///< a fiber was spawned from outside
  span_began,      ///< a: its name, a text; b: its id
  span_ended,      ///< b: its id
};

struct trace_event {
  std::int64_t time = 0;   ///< in nanoseconds, by the steady clock
  std::uint64_t what = 0;  ///< the kind in the low byte, `extra` above it
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  static constexpr unsigned extra_begins = 8;
  traced kind() const noexcept { return static_cast<traced>(what & 0xff); }
  std::uint64_t extra() const noexcept { return what >> extra_begins; }
  char const* text() const noexcept { return reinterpret_cast<char const*>(a); }  // NOLINT(performance-no-int-to-ptr)
};

// The events that one worker has recorded: the newest, as many as fit. The thread that works as the worker writes, without a lock, an
// allocation or an atomic read-modify-write; any thread reads at any time, and detects what was overwritten during the read. ../README.md,
// "The ring". Next: pool_trace.hpp, which has one for each worker; shared_ring below, for threads outside the pool.

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

  /// Records an event, now. `text` and `object`: as `traced` says of the kind.
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
  /// True if the span with that id began in a trace_ring; false if it is one of threads outside.
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

// Events of threads that do not work for the pool; several may record at once. Keeps the oldest, as many as fit, and counts the rest,
// without a lock or an allocation. ../README.md, "Threads outside". Next: pool_trace.hpp, trace_span.cpp, each of which has one.

class shared_ring {
 public:
  /// `room`: the number of events kept. Throws std::bad_alloc.
  explicit shared_ring(std::size_t room) : room_{room}, places_{std::make_unique<place[]>(room)} {}

  /// Records an event, now. Any thread. Returns its number, unique in this ring.
  NOPAL_COLD std::uint64_t record(traced kind, void const* text = nullptr, std::uint64_t b = 0) noexcept;

  /// The number of events; some of the last may not be written yet. Any thread.
  std::size_t size() const noexcept;
  /// The number of events that did not fit. Any thread.
  std::uint64_t dropped() const noexcept;
  /// Event i < size(); of kind `nothing` if it is not written yet. Any thread.
  trace_event at(std::size_t i) const noexcept;

 private:
  struct place {
    std::atomic<std::uint64_t> what{0};
    std::int64_t time = 0;  // these are written before `what`, and never again
    std::uint64_t a = 0, b = 0;
  };

  std::size_t const room_;
  std::unique_ptr<place[]> const places_;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace nopal::core
