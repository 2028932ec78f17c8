#pragma once

// A context: a native stack that one thread leaves and any thread resumes. switch_to and call_on change the stack on which the caller runs,
// and tell the sanitizers and the C++ runtime. Called by stack.hpp and suspension.hpp; a scope's fast fork calls nopal_context_fork itself.
// The assembly is in src/architecture. Next: stack.hpp, which maps the memory.

#include <cstddef>

#include "nopal/core/architecture/thread_words.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What runs first on the stack that was switched to. The stack that was left is wholly saved then, so this is the place to publish it. The
/// object may be in the frame that was left: then run() must not touch it once it has published that stack.
struct after_switch {
  void (*run)(after_switch&) noexcept;
};

/// The exceptions that are being handled on one stack: __cxa_eh_globals of the Itanium C++ ABI. They are the thread's only while it runs
/// that stack. Without this, a `throw;` on another thread, after the stack has moved, ends the program.
struct handled_exceptions {
  void* caught = nullptr;
  unsigned uncaught = 0;
  NOPAL_INLINE bool none() const noexcept { return caught == nullptr && uncaught == 0; }
};

/// True: the calling thread handles no exception. False: it may handle one, or has not yet learned where the C++ runtime keeps them. Ask
/// again after every switch: the thread may be another.
NOPAL_INLINE bool handles_none() noexcept { return static_cast<handled_exceptions*>(read_thread_word<thread_word::handled>())->none(); }
/// Moves what the calling thread handles into `h`. Each thread learns once where the C++ runtime keeps it.
NOPAL_COLD void put_away_handled(handled_exceptions& h) noexcept;
/// Moves `h` back: from now on the calling thread handles it.
NOPAL_COLD void put_back_handled(handled_exceptions& h) noexcept;

struct context {
  void* sp = nullptr;          ///< the saved stack pointer, while no thread runs the stack; the layout above it is in src/architecture
  handled_exceptions handled;  ///< none, while a thread runs the stack

  void (*body)(context&) = nullptr;  ///< not null while the body may return: see call_on

  // Bounds of the stack, for AddressSanitizer. The sanitizer itself gives them when a stack is left: that may be a thread's own, or a
  // foreign stack that the program has switched to.
  void const* bottom = nullptr;
  std::size_t size = 0;

  void* fake_stack = nullptr;  ///< AddressSanitizer's record of the stack's frames, while no thread runs the stack
  void* fiber = nullptr;       ///< ThreadSanitizer's record that prepare made for the stack
  void* left_on = nullptr;     ///< the ThreadSanitizer record to resume, while no thread runs the stack: a foreign stack has its own
};

/// Makes `c` a fresh stack that ends at `top` (16-byte aligned): the first switch to it runs `body`, which must not return and must let no
/// exception out. By the owner of `c`, while no thread runs it.
void prepare(context& c, std::byte* bottom, std::byte* top, void (*body)(context&)) noexcept;

extern "C" {
/// Leaves the stack on which the caller runs, stores its pointer in *left, and returns `a` on the stack whose saved pointer is `to`.
after_switch* nopal_context_switch(void** left, void* to, after_switch* a) noexcept;
#if defined(__x86_64__)
/// As nopal_context_switch, with another jump: see `ending`.
after_switch* nopal_context_switch_2(void** left, void* to, after_switch* a) noexcept;
/// As nopal_context_switch, but it ends in a return.
after_switch* nopal_context_change(void** left, void* to, after_switch* a) noexcept;
/// As nopal_context_switch, but nothing of the stack that is left is saved, and *left is null: no thread will resume it.
after_switch* nopal_context_leave(void** left, void* to, after_switch* a) noexcept;
#endif
/// Leaves the stack on which the caller runs, stores its pointer in *left, and calls body(with) on the fresh stack that ends at `top`.
/// Returns null when body returns. Also returns when a worker has switched to the stack that was left: then the result is for
/// finish_switch. For callers that handle no exception (handles_none), and not under sanitizers.
after_switch* nopal_context_fork(void** left, void* top, void* with, void (*body)(void*));
/// Calls body(with) on a fresh stack as nopal_context_fork does, but restores the processor's control words when body returns.
after_switch* nopal_context_call(void** left, void* top, context& with, void (*body)(context&)) noexcept;
}
/// Finishes a switch to `here`, on which the caller runs, if nopal_context_fork or nopal_context_call returned because of that switch:
/// tells the sanitizers and the C++ runtime, and runs `a` if it is not null.
void finish_switch(context& here, after_switch* a) noexcept;

/// Frees what the sanitizers keep of `c`, which no thread runs now or will run again.
void forget(context& c) noexcept;

/// Whether the stack that is left will be resumed.
enum class leaving { for_now, for_good };

/// What a switch ends in, on x86-64. With the right ending the processor predicts where it leads: ../architecture/README.md, "The switch".
enum class ending {
  jump,         ///< for most
  second_jump,  ///< for a place in the code that resumes stacks which were left at other places than those that `jump` resumes
  as_return     ///< for a place that resumes stacks which were left there too, called from where it is called now
};

#if !defined(__x86_64__) || NOPAL_ASAN || NOPAL_TSAN
void switch_stacks(context& from, context& to, after_switch* a, leaving how) noexcept;
#endif

/// Leaves `from`, on which the caller runs, and resumes `to`, which first runs `a` if that is not null. Returns when some thread has
/// switched to `from` again: maybe another thread, so no thread-local may be cached across this call. `from` may be resumed elsewhere as
/// soon as `a` has published it. About 40 instructions. Inlined, since a return more behind the switch is one that
/// the processor may mispredict.
template <ending End = ending::jump>
NOPAL_INLINE void switch_to(context& from, context& to, after_switch* a = nullptr, leaving how = leaving::for_now) noexcept {
#if defined(__x86_64__) && !NOPAL_ASAN && !NOPAL_TSAN
  if (!handles_none()) [[unlikely]]
    put_away_handled(from.handled);
  if (how == leaving::for_good) {
    nopal_context_leave(&from.sp, to.sp, a);
    __builtin_unreachable();
  }
  constexpr auto leave = End == ending::jump          ? nopal_context_switch
                         : End == ending::second_jump ? nopal_context_switch_2
                                                      : nopal_context_change;
  after_switch* const b = leave(&from.sp, to.sp, a);
  if (!from.handled.none()) [[unlikely]]
    put_back_handled(from.handled);
  if (b != nullptr) b->run(*b);
#else
  switch_stacks(from, to, a, how);
#endif
}

/// Does what prepare and switch_to do, in one call and cheaper. `body` may return as long as `to` was never left: then `from` is resumed as
/// a function's caller is, this returns true, and `to` is free for the caller. False: `from` was resumed by a switch, maybe on another
/// thread.
NOPAL_INLINE bool call_on(context& from, context& to, std::byte* bottom, std::byte* top, void (*body)(context&)) noexcept {
#if !NOPAL_ASAN && !NOPAL_TSAN
  // While no exception is being handled, the two stacks may share that state until one is left.
  if (handles_none()) [[likely]] {
    to.body = body;
    after_switch* const a = nopal_context_call(&from.sp, top, to, body);
    if (a == nullptr) [[likely]]
      return true;
    finish_switch(from, a);
    return false;
  }
#endif
  prepare(to, bottom, top, body);
  to.body = nullptr;
  switch_to(from, to);
  return false;
}

}  // namespace nopal::core
