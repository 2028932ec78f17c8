#pragma once

// What a native stack that no thread runs holds at its stack pointer: the registers that the ABI lets a function keep.
// nopal_context_switch, nopal_context_call and nopal_context_fork write and read them by numbers (src/architecture/*.S); the assertions
// here pin each number. Beside those files only two places know the layout: stack/context.cpp makes the frame of a fresh stack,
// companions/debug/src/unwinder.cpp reads that of one that waits. Next: stack/context.hpp.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

#if defined(__x86_64__)

/// In the order of src/architecture/x86_64.S, from the stack pointer up.
struct context_frame {
  std::uint32_t mxcsr;
  std::uint16_t x87_control;
  std::uint16_t unused;
  std::uint64_t r12, r13, r14, r15, rbx, rbp;
  std::uint64_t return_address;
};
static_assert(offsetof(context_frame, mxcsr) == 0 && offsetof(context_frame, x87_control) == 4);
static_assert(offsetof(context_frame, r12) == 8 && offsetof(context_frame, r13) == 16 && offsetof(context_frame, r14) == 24);
static_assert(offsetof(context_frame, r15) == 32 && offsetof(context_frame, rbx) == 40 && offsetof(context_frame, rbp) == 48);
static_assert(offsetof(context_frame, return_address) == 56 && sizeof(context_frame) == 64);

/// The frame of a stack on which nothing has run: the first switch to it jumps to `start`, nopal_context_start, which finds the context in
/// r12 and its body in r13. The control words are the calling thread's, as a new thread would have them.
inline context_frame first_context_frame(std::uintptr_t start, std::uintptr_t context, std::uintptr_t body) noexcept {
  context_frame f{};
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(f.mxcsr), "=m"(f.x87_control));
  f.r12 = context;
  f.r13 = body;
  f.return_address = start;
  return f;
}

#elif defined(__aarch64__)

/// In the order of src/architecture/aarch64.S, from the stack pointer up.
struct context_frame {
  std::uint64_t x19, x20, x21, x22, x23, x24, x25, x26, x27, x28;
  std::uint64_t x29, x30;  // the frame pointer, and where a return goes
  std::uint64_t d8, d9, d10, d11, d12, d13, d14, d15;
  std::uint64_t fpcr;
  std::uint64_t unused;  // a stack pointer is a multiple of 16
};
static_assert(offsetof(context_frame, x19) == 0 && offsetof(context_frame, x20) == 8 && offsetof(context_frame, x21) == 16);
static_assert(offsetof(context_frame, x22) == 24 && offsetof(context_frame, x23) == 32 && offsetof(context_frame, x24) == 40);
static_assert(offsetof(context_frame, x25) == 48 && offsetof(context_frame, x26) == 56 && offsetof(context_frame, x27) == 64);
static_assert(offsetof(context_frame, x28) == 72 && offsetof(context_frame, x29) == 80 && offsetof(context_frame, x30) == 88);
static_assert(offsetof(context_frame, d8) == 96 && offsetof(context_frame, d10) == 112 && offsetof(context_frame, d12) == 128);
static_assert(offsetof(context_frame, d14) == 144 && offsetof(context_frame, fpcr) == 160 && sizeof(context_frame) == 176);

/// The frame of a stack on which nothing has run: the first switch to it jumps to `start`, nopal_context_start, which finds the context in
/// x19 and its body in x20. The control word is the calling thread's, as a new thread would have it.
inline context_frame first_context_frame(std::uintptr_t start, std::uintptr_t context, std::uintptr_t body) noexcept {
  context_frame f{};
  asm volatile("mrs %0, fpcr" : "=r"(f.fpcr));
  f.x19 = context;
  f.x20 = body;
  f.x30 = start;
  return f;
}

#else
#error "nopal cannot switch stacks on this architecture: add src/architecture/<architecture>.S, and its layout here"
#endif

static_assert(std::is_trivially_copyable_v<context_frame> && std::is_standard_layout_v<context_frame> && sizeof(context_frame) % 16 == 0);

}  // namespace nopal::core
