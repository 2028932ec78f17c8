// The switch between native stacks, but for its assembly (src/architecture): what it tells the sanitizers and the C++ runtime, and how a
// fresh stack begins.

#include "nopal/core/stack/context.hpp"
#include "nopal/core/stack/stack.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

#include "nopal/core/architecture/context_layout.hpp"
#include "nopal/core/base/fatal.hpp"

#if NOPAL_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#if NOPAL_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#if NOPAL_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace nopal::inline NOPAL_ABI::core {

extern "C" {
void nopal_context_start();
// The Itanium C++ ABI's __cxa_get_globals, where a thread's handled exceptions are. libc++abi does not declare it; libstdc++ declares it as
// a function whose result the compiler may keep, which it must not across a switch.
void* nopal_runtime_get_globals() noexcept asm("__cxa_get_globals");
[[noreturn]] [[gnu::visibility("hidden"), gnu::used]] void nopal_context_begin(after_switch* a, context* here,
                                                                               void (*body)(context&)) noexcept;
}

namespace {

// The context that this thread left last. AddressSanitizer tells its bounds only after the switch.
#if NOPAL_ASAN
constinit thread_local context* just_left = nullptr;
[[gnu::noinline]] void note_left(context* c) noexcept { just_left = c; }
[[gnu::noinline]] context* take_left() noexcept { return just_left; }
#endif

// The first thing after a switch to `here`, on that stack.
NOPAL_INLINE void begin_after_switch(context& here, after_switch* a) noexcept {
#if NOPAL_ASAN
  void const* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(here.fake_stack, &bottom, &size);
  if (context* const left = take_left(); left != nullptr) {
    left->bottom = bottom;
    left->size = size;
  }
#endif
  if (!here.handled.none()) [[unlikely]]
    put_back_handled(here.handled);
  if (a != nullptr) a->run(*a);
}

}  // namespace

// What a thread's word points to before the thread has learned where the C++ runtime keeps its handled exceptions. It seems to handle
// something, so that the thread learns. The thread words of src/architecture begin with its address.
extern "C" {
constinit handled_exceptions nopal_not_yet_learned{&nopal_not_yet_learned, 0};
}

static handled_exceptions& learn() noexcept {
  auto* const now = static_cast<handled_exceptions*>(nopal_runtime_get_globals());
  write_thread_word<thread_word::handled>(now);
  return *now;
}
void put_away_handled(handled_exceptions& h) noexcept { h = std::exchange(learn(), {}); }
void put_back_handled(handled_exceptions& h) noexcept { learn() = std::exchange(h, {}); }

void nopal_context_begin(after_switch* a, context* here, void (*body)(context&)) noexcept {
  begin_after_switch(*here, a);
  body(*here);
  die("the first function of a native stack returned; this is a fault of nopal, or memory was overwritten");
}

#if !defined(__x86_64__) || NOPAL_ASAN || NOPAL_TSAN
// ThreadSanitizer keeps a shadow of each fiber's calls, so the function that switches must be the one that is switched to.
void switch_stacks(context& from, context& to, after_switch* a, [[maybe_unused]] leaving how) noexcept {
  if (!handles_none()) [[unlikely]]
    put_away_handled(from.handled);
#if NOPAL_ASAN
  note_left(how == leaving::for_now ? &from : nullptr);
  __sanitizer_start_switch_fiber(how == leaving::for_now ? &from.fake_stack : nullptr, to.bottom, to.size);
#endif
#if NOPAL_TSAN
  from.left_on = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.left_on, 0);
#endif
  after_switch* const b = nopal_context_switch(&from.sp, to.sp, a);
  begin_after_switch(from, b);
}
#endif

void finish_switch(context& here, after_switch* a) noexcept { begin_after_switch(here, a); }

void prepare(context& c, std::byte* bottom, std::byte* top, void (*body)(context&)) noexcept {
  c.bottom = bottom;
  c.size = static_cast<std::size_t>(top - bottom);
  c.handled = {};
  c.fake_stack = nullptr;
#if NOPAL_TSAN
  // A new record each time: calls that left for good would stay in the old one's shadow, until it is full.
  forget(c);
  c.fiber = c.left_on = __tsan_create_fiber(0);
#endif
  auto const word = [](auto* p) { return reinterpret_cast<std::uintptr_t>(p); };
  context_frame const frame = first_context_frame(word(&nopal_context_start), word(&c), word(body));
  std::byte* const sp = top - sizeof frame;
  std::memcpy(sp, &frame, sizeof frame);
  c.sp = sp;
}

void forget(context& c) noexcept {
#if NOPAL_TSAN
  if (c.fiber != nullptr) __tsan_destroy_fiber(c.fiber);
#endif
  c.fiber = nullptr;
}

// What AddressSanitizer must forget of a stack. Without it there is nothing.

#if NOPAL_ASAN
static void forget(std::byte* from, std::byte* to) noexcept { __asan_unpoison_memory_region(from, static_cast<std::size_t>(to - from)); }

void stack::forget_frames() noexcept { forget(static_cast<std::byte*>(sp), top()); }
void stack::forget_content() noexcept { forget(low(), top()); }
#endif

void held_mutexes::die_owning(stack const& here, char const* what) const noexcept {
  unsigned const left = here.mutexes - before_;
  die_in(
      nullptr,
      "%s has ended while it owns %u nopal::mutex%s (the last that it locked was at %p), which would belong to whatever runs on its native "
      "stack next; unlock it there, or let a std::lock_guard do it; where one locks and another unlocks, use a nopal::semaphore{1}",
      what, left, left == 1 ? "" : "es", here.last_mutex);
}

}  // namespace nopal::core
