#pragma once

// A context: a native stack that can be left and gone on with, by any thread. switch_to is the only place where the stack
// under one's feet changes; the sanitizers and the C++ runtime are told there. Next: stack.hpp maps the memory.

#include <cstddef>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/architecture/thread_words.hpp"

namespace nopal::core {

/// What is done on the stack that a switch arrives at, before anything else there: by then the stack that was left is wholly
/// saved, so this is the place to publish it. May lie in the frame that was left: publishing is its last look at itself.
struct after_switch {
  void (*run)(after_switch&) noexcept;
};

/// The exceptions that are being handled on one stack: __cxa_eh_globals of the Itanium C++ ABI, which are the thread's only as
/// long as it runs that stack. Without this a `throw;` after a migration ends the program.
struct handled_exceptions {
  void* caught = nullptr;
  unsigned uncaught = 0;
  NOPAL_INLINE bool none() const noexcept { return caught == nullptr && uncaught == 0; }
};

/// Does the calling thread surely handle no exception? Read afresh after every switch.
NOPAL_INLINE bool handles_none() noexcept { return static_cast<handled_exceptions*>(read_thread_word<thread_word::handled>())->none(); }
/// What the thread handles is put into `h`, and back.
NOPAL_COLD void put_away_handled(handled_exceptions& h) noexcept;
NOPAL_COLD void put_back_handled(handled_exceptions& h) noexcept;

struct context {
  void* sp = nullptr;  ///< while nobody runs it: see the layout in src/context
  handled_exceptions handled;  ///< none while somebody runs it

  void (*body)(context&) = nullptr;  ///< while it may return: see call_on

  // Where the stack lies, for AddressSanitizer, which says so itself when one is left: it may be a thread's own, or a foreign one that the
  // program has switched to.
  void const* bottom = nullptr;
  std::size_t size = 0;

  void* fake_stack = nullptr;  ///< AddressSanitizer's, while nobody runs it
  void* fiber = nullptr;       ///< ThreadSanitizer's that was made for it
  void* left_on = nullptr;     ///< and the one to go on with, while nobody runs it: a foreign stack has its own
};

/// Makes `c` a fresh stack that ends at `top` (16-byte aligned): the first switch to it runs `body`, which must not return and
/// lets no exception out.
void prepare(context& c, std::byte* bottom, std::byte* top, void (*body)(context&)) noexcept;

extern "C" {
/// Leaves the stack that runs here, its pointer in *left, and returns `a` on the one whose pointer is `to`.
after_switch* nopal_context_switch(void** left, void* to, after_switch* a) noexcept;
/// Leaves the stack that runs here, its pointer in *left, and calls body(with) on the fresh stack that ends at `top`; where that returns it
/// returns null. That somebody has switched to what was left ends it as well, with what arrived() then needs. For callers that handle no
/// exception, see handles_none, and not under sanitizers.
after_switch* nopal_context_fork(void** left, void* top, void* with, void (*body)(void*));
/// The same, and the control words of the processor are afterwards what they were.
after_switch* nopal_context_call(void** left, void* top, context& with, void (*body)(context&)) noexcept;
}
/// The caller runs on `here`, which has just been switched to.
void finish_switch(context& here, after_switch* a) noexcept;

/// Nobody will run `c` any more, and nobody runs it now.
void forget(context& c) noexcept;

enum class leaving { for_now, for_good };

/// Leaves `from`, on which the caller runs, and goes on at `to`, where `a` is run if there is one. Returns when somebody has
/// switched to `from` again: maybe on another thread. Never cache a thread-local across it. About 40 instructions. Inlined, and the switch
/// ends in a jump, since the processor would predict each return wrong.
#if defined(__x86_64__) && !NOPAL_ASAN && !NOPAL_TSAN
NOPAL_INLINE void switch_to(context& from, context& to, after_switch* a = nullptr, leaving = leaving::for_now) noexcept {
  if (!handles_none()) [[unlikely]] put_away_handled(from.handled);
  after_switch* const b = nopal_context_switch(&from.sp, to.sp, a);
  if (!from.handled.none()) [[unlikely]] put_back_handled(from.handled);
  if (b != nullptr) b->run(*b);
}
#else
void switch_to(context& from, context& to, after_switch* a = nullptr, leaving how = leaving::for_now) noexcept;
#endif

/// As prepare and switch_to in one, and cheaper: `body` may return too, as long as nobody has ever left `to`, and then goes on at `from`
/// as a function returns: true, and `to` is the caller's again. That `from` is gone on with by a switch ends it as well.
NOPAL_INLINE bool call_on(context& from, context& to, std::byte* bottom, std::byte* top, void (*body)(context&)) noexcept {
#if !NOPAL_ASAN && !NOPAL_TSAN
  // With no exception being handled the two stacks may share that state until one is left.
  if (handles_none()) [[likely]] {
    to.body = body;
    after_switch* const a = nopal_context_call(&from.sp, top, to, body);
    if (a == nullptr) [[likely]] return true;
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
