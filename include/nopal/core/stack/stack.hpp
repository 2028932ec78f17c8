#pragma once

// One native stack from mmap, with a guard page. Functions that fork run on these, never on a thread's own stack, so that any worker may
// resume them. Who owns one: README.md, "Stacks". Next: stack_pool.hpp makes and keeps them; suspension.hpp leaves them.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/resumable.hpp"
#include "nopal/core/stack/context.hpp"
#include "nopal/core/wait/waits_for.hpp"

namespace nopal::core {

struct child;


/// A name that a program has given to what runs on a stack: ../named.hpp. Reports read it while that stack may run.
struct stack_name {
  static constexpr std::size_t most = 31;
  char text[most + 1];
  stack_name const* outer;
};

/// A mapping of a power of two of bytes, aligned to its size. From the low end: guard page, room, this object, the colour: stacks
/// begin at different cache sets, since their tops, all aligned alike, would otherwise meet in the same ones.
///
///      | guard |  room, grows down        |  stack  | colour |
///    base    low()                      top()                base + size
class stack : public context, public resumable {  // left at a fork of a scope, it is anyone's to resume
 public:
  stack(stack const&) = delete;
  stack& operator=(stack const&) = delete;

  std::byte* low() const noexcept { return low_; }
  std::byte* top() noexcept { return reinterpret_cast<std::byte*>(this); }
  /// The whole mapping, as pool_options::stack_size asked, in bytes.
  std::size_t mapped() const noexcept { return mapped_; }
  /// Does an access to `address` mean that this stack has overflowed?
  bool guards(void const* address) const noexcept {
    auto const a = static_cast<std::byte const*>(address);
    return a >= base() && a < low_;
  }
  std::byte* base() const noexcept { return low_ - page_; }
  /// Does the address lie in this mapping? A running function's stack pointer does not while it works on a stack that the program made
  /// itself and switched to: the native stack that runs here is still this one. README.md, "Foreign stacks".
  bool holds(std::uintptr_t address) const noexcept { return address - reinterpret_cast<std::uintptr_t>(base()) < mapped_; }
  /// The lowest address that forks may reach: what lies below, `reserve` bytes at most, is for the ordinary functions that tasks call.
  std::uintptr_t fork_limit() const noexcept { return fork_limit_; }
  static constexpr std::size_t reserve = std::size_t{64} << 10;

  /// Leaves it for good: nobody goes on with it, and whoever is at `to` then gets it by `free`.
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

  /// Makes it a fresh context that runs `body`, on memory of unknown content.
  void begin(void (*what)(context&)) noexcept {
    body = nullptr;
    prepare(*this, low_, top(), what);
  }
  /// Leaves `from` and runs `what` here at once. It may return if returns() still says so: true, and this is the caller's again.
  NOPAL_INLINE bool run_from(context& from, void (*what)(context&)) noexcept { return call_on(from, *this, low_, top(), what); }
  bool returns() const noexcept { return body != nullptr; }

  /// The high-water mark: a word in the second page from the top, below what the search for work needs. While it stands, nothing has gone
  /// far beyond it since it was set, so that there is nothing to give back. (A frame may skip it, with an array that it does not use: then what
  /// was touched below stays until some other frame has reached the mark.)
  void set_high_water_mark() noexcept {
    if (!NOPAL_ASAN) *mark() = standing;  // which would take it for a use of a frame that has ended
  }
  bool high_water_mark_stands() const noexcept { return !NOPAL_ASAN && *mark() == standing; }
  std::byte* high_water_page() const noexcept { return base() + mapped_ - 2 * page_; }

  // What a fork that could not be fast left for this stack: see scope_fork.hpp.
  child* to_run = nullptr;
  void (*run_child)(child&, bool) = nullptr;

  // For reports, which look on while this stack may go on at any moment. What lies on it, and what it waits for, is at rest if it waits before
  // and after the look, for the same time.
  /// In the frame that waits, from when the stack is saved until it is resumed; else null.
  std::atomic<waits_for const*> waits{nullptr};
  /// How often it has waited.
  std::atomic<std::uint64_t> wait_number{0};
  /// The innermost name of what runs on it; or null.
  std::atomic<stack_name const*> name{nullptr};

  /// Whoever has just left it: from now on it waits. release: pairs with the looks of reports, as begins_to_run.
  void begins_to_wait(waits_for const& why) noexcept {
    wait_number.store(wait_number.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    waits.store(&why, std::memory_order_release);
  }
  /// Whoever resumes it, before it runs. The fence keeps all that it does from then on behind.
  void begins_to_run() noexcept {
    waits.store(nullptr, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }

  unsigned maker = 0;       ///< the worker that has mapped it
  bool stolen = false;      ///< left at a fork, and taken by another worker: written by whoever takes it

 private:
  friend class stack_pool;
  friend class stack_cache;

  static constexpr std::uint64_t standing = 0x6e6f70616c6d6172;
  std::uint64_t volatile* mark() const noexcept { return reinterpret_cast<std::uint64_t volatile*>(high_water_page()); }

  stack(std::byte* low, std::size_t mapped, std::size_t page, run_function when_left) noexcept
      : resumable{when_left}, low_{low}, mapped_{mapped}, page_{page}, fork_limit_{reinterpret_cast<std::uintptr_t>(low) + (reserve < mapped / 4 ? reserve : mapped / 4)} {}

#if NOPAL_ASAN
  /// The frames that it was left in will never end: AddressSanitizer must not take what it remembers of them for later ones'.
  void forget_frames() noexcept;
  /// What the program wrote there is gone, and with it what AddressSanitizer remembers of it.
  void forget_content() noexcept;
#else
  void forget_content() noexcept {}
#endif

  // Here and not in a frame: what AddressSanitizer keeps of a stack's frames ends when that is left for good.
  struct last_switch : after_switch {
    stack* self;
    void (*free)(stack&) noexcept;
  };
  last_switch last_;

  std::byte* low_;
  std::size_t mapped_;
  std::size_t page_;
  std::uintptr_t fork_limit_;
  stack* next_ = nullptr;  // in a pool's list of free ones
  stack* older_ = nullptr;
  stack* newer_ = nullptr;
};

}  // namespace nopal::core
