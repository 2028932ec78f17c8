#pragma once

// One native stack: a place in a mapping, with a guard page. All strands run on these, never on a thread's own stack, so that any worker
// may resume them. Which thread owns one at each event: README.md, "Where a stack goes at each event". Next: stack_pool.hpp, which holds
// their places, makes and keeps them; suspension.hpp, which leaves them.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/observe/measured.hpp"
#include "nopal/core/stack/context.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct child;
class stack_region;

/// A name that the program has given to what runs on a stack: ../../named.hpp. Reports copy it while that stack may run.
struct stack_name {
  static constexpr std::size_t most = 31;
  char text[most + 1];
  stack_name const* outer;
};

/// One native stack. Its place is a power of two of bytes, aligned to its size. From the low end: guard page, room, this object, the
/// colour. The colour lets stacks begin at different cache sets: otherwise their tops, all aligned alike, would share the same sets.
///
///      | guard |  room, grows down        |  stack  | colour |
///    base    low()                      top()                base + size
///
/// A resumable: left at a fork of a scope, it is in a deque as it is, and from there perhaps in an inbox.
class stack : public context, public inheriting {
 public:
  stack(stack const&) = delete;
  stack& operator=(stack const&) = delete;

  std::byte* low() const noexcept { return low_; }
  std::byte* top() noexcept { return reinterpret_cast<std::byte*>(this); }
  /// The whole place, in bytes: pool_options::stack_size, rounded up to a power of two.
  std::size_t mapped() const noexcept { return mapped_; }
  /// True if an access to `address` means that this stack has overflowed.
  bool guards(void const* address) const noexcept {
    auto const a = static_cast<std::byte const*>(address);
    return a >= base() && a < low_;
  }
  std::byte* base() const noexcept { return low_ - page_; }
  /// The number that traces show: that of its place, in units of 4 KiB.
  std::uint64_t number() const noexcept { return reinterpret_cast<std::uintptr_t>(base()) >> 12; }
  /// True if the address is in this place. A function's stack pointer is not, while the function runs on a stack that the program made and
  /// switched to itself. The worker's native stack is this one even then: README.md, "Foreign stacks".
  bool holds(std::uintptr_t address) const noexcept { return address - reinterpret_cast<std::uintptr_t>(base()) < mapped_; }
  /// The lowest address that forks of tasks, and forks below tasks, may reach. The space below is for the ordinary functions that tasks
  /// call: `reserve` bytes, or a quarter of a stack smaller than four times that.
  std::uintptr_t fork_limit() const noexcept { return fork_limit_; }
  static constexpr std::size_t reserve = std::size_t{64} << 10;

  /// Leaves this stack, on which the caller runs, for good: no worker will resume it. Resumes `to`, and first calls free(*this) there.
  void leave(context& to, void (*free)(stack&) noexcept) noexcept {
    last_.self = this;
    last_.free = free;
    last_.run = [](after_switch& a) noexcept {
      stack& left = *static_cast<last_switch&>(a).self;
#if NOPAL_ASAN
      left.forget_frames();
#endif
      static_cast<last_switch&>(a).free(left);
    };
    switch_to(*this, to, &last_, leaving::for_good);
  }

  /// Makes it a fresh context that runs `what`, on memory of unknown content. By its owner, while no thread runs it.
  void begin(void (*what)(context&)) noexcept {
    body = nullptr;
    prepare(*this, low_, top(), what);
  }
  /// Leaves `from` and runs `what` on this stack at once. True: `what` has returned, which it may do while returns() holds, and this stack
  /// is free for the caller. False: `from` was resumed by a switch.
  NOPAL_INLINE bool run_from(context& from, void (*what)(context&)) noexcept { return call_on(from, *this, low_, top(), what); }
  /// True if the body may return to the stack that run_from left. False where run_from had to switch, and once this stack was left itself.
  bool returns() const noexcept { return body != nullptr; }

  /// Sets the high-water mark: a word in the second page from the top, below what the search for work needs. While it stands, no frame has
  /// reached far beyond it since it was set, so there is nothing to give back. (A frame may skip it, with an array that it does not use:
  /// then what was touched below stays until some other frame has reached the mark, or until the kernel is asked in spite of it: README.md.) By the stack's owner, while no thread runs it.
  void set_high_water_mark() noexcept { set_mark(high_water_page()); }
  /// As set_high_water_mark, for any page of the stack that it has touched; and whether that mark stands.
  static void set_mark(std::byte* page) noexcept {
    if (!NOPAL_ASAN) *mark(page) = standing;  // AddressSanitizer would take this for a use of a frame that has ended
  }
  static bool mark_stands(std::byte* page) noexcept { return !NOPAL_ASAN && *mark(page) == standing; }
  std::byte* high_water_page() const noexcept { return base() + mapped_ - 2 * page_; }

  // The child that a scope's slow fork starts on this stack, and how: fork_on in src/stack/scope_child.cpp.
  child* to_run = nullptr;
  void (*run_child)(child&, bool) = nullptr;

  // For reports, which copy the frames of the stack while any worker may resume it. If the stack waits before and after the copy, and its
  // wait has the same number both times, then it and what it waits for were at rest in between: report/README.md.
  /// What the stack waits for, in the frame that waits: from when the stack is saved until it is resumed; else null.
  std::atomic<waits_for const*> waits{nullptr};
  /// How often it has waited.
  std::atomic<std::uint64_t> wait_number{0};
  /// When it began to wait, by the coarse clock.
  std::atomic<std::int64_t> waits_since{0};
  /// The innermost name of what runs on it; or null.
  std::atomic<stack_name const*> name{nullptr};

  /// For debuggers: what was stolen and runs at the base of this stack, or of what runs on top of it. The address of a branch, or that of a
  /// task's frame plus 1; or 0. By the worker that runs it.
  std::uintptr_t origin = 0;

  /// From now on, the time `now`, the stack waits. By the worker that has just left it, on another stack. release: both pair with the
  /// acquire loads in copy_wait (src/report/report.cpp), for the saved stack pointer, the time, and all frames above the stack pointer.
  void begins_to_wait(waits_for const& why, std::int64_t now) noexcept {
    waits_since.store(now, std::memory_order_relaxed);                                              // relaxed: the stores below release it
    wait_number.store(wait_number.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // relaxed: only the owner writes it
    waits.store(&why, std::memory_order_release);
  }
  /// From now on the stack does not wait. By the worker that resumes it, before it runs. The release fence pairs with the acquire fence in
  /// copy_wait: a report that has copied anything that the stack writes from then on reads null here, and drops its copy. relaxed: the
  /// fence orders it.
  void begins_to_run() noexcept {
    waits.store(nullptr, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }

  bool is_high = false;  ///< its strand waits in a region of high priority; written by the worker that leaves the stack

  // A stack that stays is resumed only by the thread that left it: home.hpp.
  static constexpr unsigned anywhere = ~0U;
  unsigned home = anywhere;  ///< the worker whose thread must resume it; written by that thread before the stack is published
  unsigned stays = 0;        ///< how many nopal::stay live in frames on it; touched only by the worker that runs it
  unsigned on_top = 0;       ///< how many strands run on top of frames that wait; touched only by the worker that runs it
  // While its thread has left it inside nopal::stay; touched only by that thread: home.hpp.
  bool in_order = false;
  stack* left_before = nullptr;      ///< the one that the same thread left before, and has not resumed yet; or null
  bool awaits_turn = false;          ///< what it waited for has happened
  std::uint32_t looks_for_turn = 0;  ///< how often the thread has looked since then, in vain
  std::int64_t looked_for_turn = 0;  ///< when it last looked, in nanoseconds
  /// The stack on its way to its home's inbox: a resumable of its own, since the stack's other one may only resume a stack left at a
  /// scope's fork.
  struct on_its_way : resumable {
    stack* it = nullptr;
  } on_its_way;

  // By the strand on this stack, which owns what it locks: ../../mutex.hpp.
  /// How many mutexes belong to it, with the one that it waits for.
  unsigned mutexes = 0;
  /// The last that it has locked, for messages; the mutex may be gone.
  void const* last_mutex = nullptr;

  unsigned maker = 0;             ///< the worker that has made it
  std::uint64_t known_pages = 0;  ///< pages that it held when its unused pages were last looked at; by its owner
  unsigned looks = 0;             ///< how often they were looked at; by its owner
  measured_words measured{};      ///< what is measured of what runs on it; touched only by the worker that runs it
  bool stolen = false;  ///< it was left at a scope's fork and then taken from a deque or an inbox: written by the worker that takes it

 private:
  friend struct debug_layout;
  friend class stack_pool;
  friend class stack_cache;

  static constexpr std::uint64_t standing = 0x6e6f70616c6d6172;
  static std::uint64_t volatile* mark(std::byte* page) noexcept { return reinterpret_cast<std::uint64_t volatile*>(page); }

  stack(stack_region& in, std::byte* low, std::size_t mapped, std::size_t page, run_function when_left) noexcept
      : inheriting{when_left},
        region_{in},
        low_{low},
        mapped_{mapped},
        page_{page},
        fork_limit_{reinterpret_cast<std::uintptr_t>(low) + (reserve < mapped / 4 ? reserve : mapped / 4)} {}

#if NOPAL_ASAN
  /// The frames in which the stack was left will never end. AddressSanitizer must not take what it keeps of them for that of later frames.
  void forget_frames() noexcept;
  /// The stack's content is gone, and with it what AddressSanitizer remembers of it.
  void forget_content() noexcept;
#else
  void forget_content() noexcept {}
#endif

  // Frees the stack after the switch. Stored here and not in a frame: what AddressSanitizer keeps of a stack's frames ends when that stack
  // is left for good.
  struct last_switch : after_switch {
    stack* self;
    void (*free)(stack&) noexcept;
  };
  last_switch last_;

  stack_region& region_;
  std::byte* low_;
  std::size_t mapped_;
  std::size_t page_;
  std::uintptr_t fork_limit_;
  unsigned valgrind_id_ = 0;
  stack* next_ = nullptr;  // in a pool's list of free stacks
  // In a pool's list of all its stacks.
  stack* older_ = nullptr;
  stack* newer_ = nullptr;
};

// A strand that ends on a native stack has unlocked what it locked there. A mutex belongs to the stack on which it was locked: if it were
// left locked, it would belong to what runs on that stack next. Next: ../../mutex.hpp, which counts; ../scheduler/fiber_record.hpp and
// ../task/slow_path.hpp, which check.

/// The number of mutexes that belonged to a native stack when something began there.
class held_mutexes {
 public:
  explicit held_mutexes(stack const& here) noexcept : before_{here.mutexes} {}
  /// `what` has ended on that stack, on which the caller runs. Ends the program if more mutexes belong to the stack than before.
  void check(stack const& here, char const* what) const noexcept {
    if (here.mutexes != before_) [[unlikely]]
      die_owning(here, what);
  }

 private:
  NOPAL_API [[noreturn]] NOPAL_COLD void die_owning(stack const& here, char const* what) const noexcept;
  unsigned before_;
};

}  // namespace nopal::core
