#pragma once

// A task's frame, as far as the core reads it: the part of its promise that joins, steals and exceptions need. Only the frame's present
// owner may touch it, but for the join word and what is recorded under its lock. Next: arena.hpp, which gives the memory;
// ../deque/join_word.hpp, its parts for the join.

#include <bit>
#include <cassert>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>

#include "nopal/core/architecture/control_words.hpp"
#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/task/arena.hpp"
#include "nopal/eventually.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct stacklet;

/// How a frame was started, in the low bits of frame::parent_word.
enum kind : std::uintptr_t {
  called = 0,  ///< the parent waits for it, and is offered to no thief
  forked = 1,  ///< the parent was offered to thieves
  of_job = 2,  ///< the parent is the frame of a job
};
inline constexpr std::uintptr_t kind_mask = 3;
/// In frame::parent_word: the slot is an eventually<T>, so the result is constructed in it, not assigned. It is empty if the task fails. A T
/// that is written to its slot as one word counts as there from the start.
inline constexpr std::uintptr_t constructs = 4;
/// In frame::parent_word too: the slot is a std::optional<T>, empty again if the task fails. Together with `constructs` for a T that is not
/// written to its slot as one word; else the optional holds a T from the start, whose address is the slot.
inline constexpr std::uintptr_t engages = 8;
/// All that frame::parent_word holds beside the address.
inline constexpr std::uintptr_t parent_bits = kind_mask | constructs | engages;
/// Only in the type of a child_awaitable: some reference parameter refers to a converted argument that is stored in the awaitable itself.
inline constexpr std::uintptr_t refers_to_awaitable = 16;

/// A task's coroutine frame, as far as the core reads it. It begins with the two pointers that the coroutine ABI of every supported
/// compiler puts there; the promise (promise.hpp) provides the memory of the rest. Assertions there check its size and alignment, and
/// tests/unit/frame_test.cpp checks its place. A frame's address is that of its coroutine, so that the fork path needs no second pointer.
struct frame {
  void* resume_function;
  void* destroy_function;

  // Written at birth, from what the parent left in its worker's fork_state.
  std::uintptr_t parent_word;  ///< parent frame, kind, `constructs`, `engages`
  void* slot;                  ///< where the result is stored; null: dropped; undefined for a task<void>

  // Zero at birth. Only the frame's present owner touches state: the worker that runs it, stole it, or completed its join.
  std::uint64_t state;  ///< | modes: 24 bits | steals: 38 bits | thrown: value 2 | open: value 1 |
  join_word join;

  // Undefined until needed.
  stacklet* arena;       ///< the arena that holds this frame while no worker runs it: written before a child arrives or the task is sent
  kept_exception first;  ///< of its children's exceptions, the one that serial execution would have met first

  static constexpr std::uint64_t open = 1;    ///< forked since the last join
  static constexpr std::uint64_t thrown = 2;  ///< a child's exception waits in `first`
  static constexpr std::uint64_t one_steal = 4;
  static constexpr int modes_shift = 40;

  /// Begins the frame's life, but for the slot, which a task<void> does not have. `parent`: a parent_word.
  NOPAL_INLINE void birth(std::uintptr_t parent) noexcept {
    parent_word = parent;
    state = 0;
    std::construct_at(&join);
  }

  NOPAL_INLINE std::coroutine_handle<> coroutine() noexcept { return std::coroutine_handle<>::from_address(this); }
  NOPAL_INLINE frame* parent() const noexcept {
    return reinterpret_cast<frame*>(parent_word & ~parent_bits);  // NOLINT(performance-no-int-to-ptr)
  }
  NOPAL_INLINE kind how() const noexcept { return static_cast<kind>(parent_word & kind_mask); }
  std::uint64_t steals() const noexcept { return state % (std::uint64_t{1} << modes_shift) / one_steal; }

  /// A thief resumes this task in `m`. By the thief, which owns it now. `state` sums the digests of these modes, for the join word.
  void stolen_in(control_words m) noexcept { state += one_steal + (digest(m) << modes_shift); }
  /// The task announces its steals, and may have to wait for its last child. Moves what `state` had above its two low bits to the join
  /// word; from now on these bits keep the mode in which the task continues. Returns what join.announce returns.
  bool announce(control_words m) noexcept {
    auto const n = static_cast<std::int64_t>(steals());
    std::uint64_t const digests = state >> modes_shift;
    state = std::uint64_t{m.bits} << modes_shift | (state & (open | thrown));
    return join.announce(n, digests);
  }
  /// After the announcement, by the worker that completes the scope: the mode in which the task continues.
  control_words mode() const noexcept { return {static_cast<std::uint32_t>(state >> modes_shift)}; }

  /// Records `e`, thrown by a child that was forked after `stolen` steals of this task: see kept_exception. Any number of children's
  /// workers may call at once.
  NOPAL_API NOPAL_COLD void record(std::uint64_t stolen, std::exception_ptr e) noexcept;

  /// All children have ended: the scope closes, or stays open for what was recorded. Only by the sole owner.
  void complete() noexcept {
    bool const due = join.reset();
    state = due ? (open | thrown) : 0;
  }

  /// Throws what was recorded and closes the scope. Only by the sole owner, and only if `state` has `thrown`.
  [[noreturn]] NOPAL_COLD void rethrow();
  /// Takes what was recorded and closes the scope. Only by the sole owner, and only if `state` has `thrown`.
  NOPAL_COLD std::exception_ptr take() noexcept;
};

static_assert(arena::alignment > parent_bits);

// A deferred start: a child that was not started because the native stack ran low. Its arguments wait in the arena until the loop at the
// stack's base starts it. The strand that made it starts it; no other worker sees it. Why no stack overflows: README.md, "Depth". Next:
// child.hpp, which makes one; slow_path.hpp, which starts it.

struct deferred_start {
  void (*start)(deferred_start*);  ///< takes the arguments out, frees this, and starts the child
  frame* parent;
  kind how;
  strand_context runs_in{};  ///< that of its parent, when it was deferred
};

// The slot of a task that nopal did not start: of a task's function that an ordinary function called directly. Any thread may call. Next:
// scheduler/worker.hpp, which gives it to the next task without a parent; stack/stack_overflow.hpp, which explains the fault.

/// The address of constant memory: writing a result there is a fault.
void* place_without_slot() noexcept;
/// True if the address is in that memory.
bool is_without_slot(void const* address) noexcept;

// How a task's result is stored in its slot. Called by the worker that starts the task, and by the one on which it ends. Next: promise.hpp,
// which writes the slot.

/// Results that are stored in their slot by one relaxed store, so that a dropped one may go to a place that others write too. A word is
/// aligned to its size: for two ints side by side compilers would call a library that takes locks.
template <class T>
inline constexpr bool is_word =
    std::is_trivially_copyable_v<T> && alignof(T) >= sizeof(T) && (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

/// Prepares the optional at `slot` for a task that starts now, and returns what the task gets as its slot: see `engages`.
template <class T>
NOPAL_INLINE void* engaged_slot(void* slot) noexcept {
  auto& optional = *static_cast<std::optional<T>*>(slot);
  if constexpr (is_word<T>) {
    struct alignas(T) bytes {
      unsigned char all[sizeof(T)]{};
    };
    T& value = optional.emplace(std::bit_cast<T>(bytes{}));
    assert(static_cast<void*>(std::addressof(value)) == slot);
    return std::addressof(value);
  } else {
    optional.reset();
    return slot;
  }
}

/// True if the slot of a task with these parent_bits has to be prepared before the task starts.
template <std::uintptr_t Bits, class T>
consteval bool slot_is_prepared() {
  if constexpr ((Bits & engages) != 0) {
    return true;
  } else if constexpr ((Bits & constructs) != 0) {
    return is_word<T>;
  } else {
    return false;
  }
}
/// Prepares such a slot, and returns what the task gets as its slot.
template <std::uintptr_t Bits, class T>
NOPAL_INLINE void* prepared_slot(void* slot) noexcept {
  if constexpr ((Bits & engages) != 0) {
    return engaged_slot<T>(slot);
  } else {
    eventually_access::fill(*static_cast<eventually<T>*>(slot));
    return slot;
  }
}
/// True if the slot of such a task can be empty.
template <std::uintptr_t Bits>
inline constexpr bool slot_may_be_empty = (Bits & (engages | constructs)) != 0;
/// Empties the slot of a task that has failed, if it can be empty. `bits`: the task's parent_bits. `slot` may be what engaged_slot returned:
/// a T in the optional has the address of the optional, which engaged_slot asserts.
template <class T>
NOPAL_COLD void empty_slot(std::uintptr_t bits, void* slot) noexcept {
  if ((bits & engages) != 0) {
    static_cast<std::optional<T>*>(slot)->reset();
  } else if ((bits & constructs) != 0) {
    eventually_access::empty(*static_cast<eventually<T>*>(slot));
  }
}

}  // namespace nopal::core
