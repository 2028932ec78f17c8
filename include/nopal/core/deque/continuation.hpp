#pragma once

// A job context: what a strand carries beside its code, in one word. What a strand forks or spawns inherits it, and a thief takes it with
// what it steals. Code that keeps one or hands it on does not know what is in it. A strand context has the fiber-local values, too, which
// only forks inherit. What keeps them, and who adopts them: ../scheduler/README.md, "Job context". Below: what may be in a deque, and how
// it is offered. Next: deque.hpp, which has one, too; worker::runs_in and worker::adopt.

#include <bit>
#include <cstdint>

#include "nopal/core/architecture/control_words.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/stop/stop_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct job_context {
  control_words mode;  ///< the floating-point mode
  region_id region;    ///< the stop region

  /// That of code which runs on the calling thread now, and in the region `r`.
  static job_context now(region_id r) noexcept { return {control_words::now(), r}; }

  bool operator==(job_context const&) const = default;
  /// As one word, so that a thief reads all at once.
  std::uint64_t word() const noexcept { return std::bit_cast<std::uint64_t>(*this); }
  static job_context of(std::uint64_t word) noexcept { return std::bit_cast<job_context>(word); }
};

class fiber_values;

/// That of a strand, and what its code sees by nopal::fiber_local: ../scheduler/fiber_values.hpp.
struct strand_context : job_context {
  fiber_values* values;  ///< those of the fiber or the job that the strand works for; null: between strands

  bool operator==(strand_context const&) const = default;
};

// A resumable: what a worker can run from where it stands. A job that has not started, the later half of a fork in an ordinary function, a
// native stack that was left. A task's frame is none: it has no room for these words. Below: one entry of a deque.

class worker;

/// The worker that takes it from its queue calls run once. Another worker may take, run and destroy it as soon as it is queued. It may be
/// gone when run returns.
///
/// A worker calls run when its strand has ended and its deque is empty. run either adopts `runs_in`, begins a strand and ends it; or
/// resumes a stack and never returns. A strand is begun and ended by begin_strand and end_strand, with begin_without_tasks between them for
/// an ordinary function; or, where the deque is rewound, by begin_job and end_job for both. run may return on another worker, so its caller
/// uses nothing afterwards. What a pool's end must wait for is counted: pool_state::pending, or fibers_spawned and fibers_finished.
struct resumable {
  using run_function = void (*)(resumable&, worker&) noexcept;

  resumable* next;  ///< in the queue that holds it; elsewhere the resumable's own: a branch keeps its exception there
  run_function run;
  /// In what context run is to run its code. Set by the thread that queues it in an inbox or a ring; for a branch, by the thread that takes
  /// it from a deque. The mode of a stack is in its frames, where the switch finds it, and so is the region of one that was left and not
  /// offered. A fiber's mode is in its record.
  job_context runs_in;

  constexpr explicit resumable(run_function f = nullptr) noexcept : run{f} {}
};

/// A resumable that continues the work of a fiber or a job which has begun, or begins that of a job: its code sees the fiber-local values of
/// what it came from. Each resumable that a worker's deque of forks holds is one.
struct inheriting : resumable {
  fiber_values* values;  ///< set as runs_in

  constexpr explicit inheriting(run_function f = nullptr) noexcept : resumable{f} {}  // leaves `values` undefined: a fork does not set it

  strand_context inherited() const noexcept { return {runs_in, values}; }
  void inherit(strand_context const& c) noexcept {
    runs_in = c;
    values = c.values;
  }
};

// One entry of a deque: a word that says what to run. The worker that takes it, owner or thief, runs it. Next: make_offer, below, which
// pushes one.

struct frame;

/// A task's frame, or a resumable. A resumable that is a native stack has a tag of its own, since it cannot be resumed on top of another
/// stack. A frame has tag 0: the fork path pushes its address as it is, and a frame needs no function pointer.
class continuation {
 public:
  explicit continuation(std::uintptr_t word) noexcept : word_{word} {}
  explicit continuation(frame* f) noexcept : word_{reinterpret_cast<std::uintptr_t>(f)} {}
  /// A reference: converting a pointer to a derived class would cost a test for null.
  explicit continuation(resumable& r) noexcept : word_{reinterpret_cast<std::uintptr_t>(&r) | resumable_tag} {}
  static continuation of_stack(resumable& s) noexcept {
    return continuation{reinterpret_cast<std::uintptr_t>(&s) | resumable_tag | stack_tag};
  }

  std::uintptr_t word() const noexcept { return word_; }
  bool is_frame() const noexcept { return (word_ & resumable_tag) == 0; }
  bool is_stack() const noexcept { return (word_ & stack_tag) != 0; }
  // NOLINTBEGIN(performance-no-int-to-ptr)
  frame* as_frame() const noexcept { return reinterpret_cast<frame*>(word_); }
  resumable* as_resumable() const noexcept { return reinterpret_cast<resumable*>(word_ & ~tags); }
  /// For an entry of a worker's deque of forks.
  inheriting* as_inheriting() const noexcept { return static_cast<inheriting*>(as_resumable()); }
  // NOLINTEND(performance-no-int-to-ptr)

 private:
  static constexpr std::uintptr_t resumable_tag = 1;
  static constexpr std::uintptr_t stack_tag = 2;
  static constexpr std::uintptr_t tags = resumable_tag | stack_tag;
  static_assert(alignof(resumable) > tags);
  std::uintptr_t word_;
};

// The fork protocol, which tasks, parallel_invoke and scopes share: offer what comes later, run what comes first, take the offer back.
// Called on a worker. Next: deque.hpp; where the offer was stolen, task/slow_path.hpp, stack/native_fork.hpp and stack/scope_child.hpp.

/// Offers `c` in the deque of `w`, which is the calling worker.
template <class Worker>
NOPAL_INLINE void make_offer(Worker& w, continuation c) noexcept {
  w.work.push(c.word());
}
/// Takes back the newest offer of `w`, which is the calling worker now; the native stack may have moved since make_offer. False: the offer
/// is not private any more, and the front end's slow path finds out whether a thief has it.
template <class Worker>
NOPAL_INLINE bool take_back(Worker& w) noexcept {
  return w.work.pop();
}

}  // namespace nopal::core
