#pragma once

// Whether a thread that a signal has interrupted waits in the kernel for another thread. A system call that begins again once the handler
// has returned leaves the program counter at its own instruction, and its arguments where they were. Next:
// companions/simulation/src/interruption.cpp, which asks.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Inside the handler of a signal with SA_RESTART and SA_SIGINFO, of its third argument. True: the thread waited at a futex, as it does for
/// a lock, or was about to. False on an architecture for which this is not known.
inline bool waits_at_futex(void const* context) noexcept {
#if defined(__x86_64__)
  constexpr std::uint16_t instruction = 0x050f;  // syscall
  auto const& r = static_cast<ucontext_t const*>(context)->uc_mcontext.gregs;
  auto const at = static_cast<std::uintptr_t>(r[REG_RIP]);
  long const call = static_cast<long>(r[REG_RAX]);
  auto const operation = static_cast<unsigned>(r[REG_RSI]);
#elif defined(__aarch64__)
  constexpr std::uint32_t instruction = 0xd4000001;  // svc #0
  auto const& r = static_cast<ucontext_t const*>(context)->uc_mcontext;
  auto const at = static_cast<std::uintptr_t>(r.pc);
  long const call = static_cast<long>(r.regs[8]);
  auto const operation = static_cast<unsigned>(r.regs[1]);
#else
  constexpr std::uint8_t instruction = 0;
  std::uintptr_t const at = 0;
  long const call = -1;
  unsigned const operation = 0;
#endif
  unsigned const command = operation & static_cast<unsigned>(FUTEX_CMD_MASK);
  if (call != SYS_futex || (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET && command != FUTEX_LOCK_PI)) return false;
  auto there = instruction;
  std::memcpy(&there, reinterpret_cast<void const*>(at), sizeof there);  // NOLINT(performance-no-int-to-ptr)
  return there == instruction;
}

}  // namespace nopal::core
