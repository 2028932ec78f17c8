#pragma once

// The two words that each thread has of its own, and the only access to them. Compilers assume that a function stays on one thread. So they
// may keep a thread-local's address, and do: Clang 16 at -O1, GCC and Clang where the model of thread-locals makes the address costly. But
// a native stack may continue on another thread after any call that suspends it. So these words are no thread-locals for the compiler,
// which never has an address to keep: the assembly file of each architecture defines them, and the functions here read and write them
// relative to the thread register, in one go. Next: ../task/fork_state.hpp and ../stack/context.hpp, which say what the words
// mean.

#include <cstddef>
#include <cstdint>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// nopal_thread_words, as src/architecture/*.S lays it out in each thread's own storage.
struct thread_words {
  void* state;    ///< what the thread works for: fork_state.hpp
  void* handled;  ///< where the C++ runtime keeps the exceptions that the thread handles: context.hpp
};
enum class thread_word : std::size_t { state = offsetof(thread_words, state), handled = offsetof(thread_words, handled) };
static_assert(offsetof(thread_words, state) == 0 && offsetof(thread_words, handled) == 8 && sizeof(thread_words) == 16);

/// A stand-in for the identity of the thread, never read or written when the program runs. For the compiler each read of a thread word
/// reads it, and every call whose body the compiler does not see may write it; each call that suspends is one of those. So a value is kept
/// until the next such call and no longer. (used: link-time optimisation, which sees all bodies, must assume that it may change too.)
struct which_thread {
  char unread;
};
[[gnu::visibility("hidden"), gnu::used]] inline constinit which_thread any_thread{};

#if defined(__x86_64__)

#if NOPAL_TLS_BY_OFFSET
/// The distance of thread_words from the thread register: equal for all threads, so that a compiler may keep it.
NOPAL_INLINE std::uintptr_t thread_words_offset() noexcept {
  std::uintptr_t offset;
  asm("movq nopal_thread_words@gottpoff(%%rip), %0" : "=r"(offset));
  return offset;
}
#endif

/// The running thread's word.
template <thread_word W>
NOPAL_INLINE void* read_thread_word() noexcept {
  void* value;
#if NOPAL_TLS_BY_OFFSET
  asm("movq %%fs:%c2(%1), %0" : "=r"(value) : "r"(thread_words_offset()), "i"(W), "m"(any_thread));
#else
  asm("movq %%fs:nopal_thread_words@tpoff+%c1, %0" : "=r"(value) : "i"(W), "m"(any_thread));
#endif
  return value;
}
template <thread_word W>
NOPAL_INLINE void write_thread_word(void* value) noexcept {
#if NOPAL_TLS_BY_OFFSET
  asm volatile("movq %0, %%fs:%c2(%1)" : : "r"(value), "r"(thread_words_offset()), "i"(W) : "memory");
#else
  asm volatile("movq %0, %%fs:nopal_thread_words@tpoff+%c1" : : "r"(value), "i"(W) : "memory");
#endif
}

/// An address that only the running thread has: it tells threads apart.
NOPAL_INLINE std::uintptr_t this_thread() noexcept {
  std::uintptr_t pointer;
  asm("movq %%fs:0, %0" : "=r"(pointer) : "m"(any_thread));
  return pointer;
}

#elif defined(__aarch64__)

// volatile does what any_thread does above: as an operand in memory, any_thread would cost an address in a register.

#if NOPAL_TLS_BY_OFFSET
NOPAL_INLINE std::uintptr_t thread_words_offset() noexcept {
  std::uintptr_t offset;
  asm("adrp %0, :gottprel:nopal_thread_words\n\tldr %0, [%0, :gottprel_lo12:nopal_thread_words]" : "=r"(offset));
  return offset;
}
#endif

/// An address that only the running thread has: it tells threads apart.
NOPAL_INLINE std::uintptr_t this_thread() noexcept {
  std::uintptr_t pointer;
  asm volatile("mrs %0, tpidr_el0" : "=r"(pointer));
  return pointer;
}

template <thread_word W>
NOPAL_INLINE void* read_thread_word() noexcept {
  void* value;
#if NOPAL_TLS_BY_OFFSET
  std::uintptr_t pointer;
  asm volatile("mrs %1, tpidr_el0\n\tadd %1, %1, %2\n\tldr %0, [%1, %3]"
               : "=r"(value), "=&r"(pointer)
               : "r"(thread_words_offset()), "i"(W));
#else
  asm volatile(
      "mrs %0, tpidr_el0\n\t"
      "add %0, %0, :tprel_hi12:nopal_thread_words+%c1, lsl #12\n\t"
      "ldr %0, [%0, :tprel_lo12_nc:nopal_thread_words+%c1]"
      : "=r"(value)
      : "i"(W));
#endif
  return value;
}
template <thread_word W>
NOPAL_INLINE void write_thread_word(void* value) noexcept {
  std::uintptr_t pointer;
#if NOPAL_TLS_BY_OFFSET
  asm volatile("mrs %0, tpidr_el0\n\tadd %0, %0, %2\n\tstr %1, [%0, %3]"
               : "=&r"(pointer)
               : "r"(value), "r"(thread_words_offset()), "i"(W)
               : "memory");
#else
  asm volatile(
      "mrs %0, tpidr_el0\n\t"
      "add %0, %0, :tprel_hi12:nopal_thread_words+%c2, lsl #12\n\t"
      "str %1, [%0, :tprel_lo12_nc:nopal_thread_words+%c2]"
      : "=&r"(pointer)
      : "r"(value), "i"(W)
      : "memory");
#endif
}

#else
#error "nopal cannot switch stacks on this architecture: add src/architecture/<architecture>.S, and its thread words here"
#endif

}  // namespace nopal::core
