#pragma once

// Who has called whom on a native stack that nobody runs: the language runtime's unwinder walks only the stack it is called on.

#include <cstddef>
#include <cstdint>
#include <span>

#include "report/code_map.hpp"

namespace nopal::core {

/// A copy of what lies on a stack, from the stack pointer with which nopal_context_switch has left it.
struct stack_copy {
  std::uintptr_t sp;
  std::span<std::byte const> bytes;
};

/// The return addresses on it, innermost first, as far as the unwind information of the code goes and there is room in `pcs`: how many. The copy
/// may be of a stack that was running meanwhile: then they mean nothing, but nothing bad happens.
std::size_t walk(code_map const& code, stack_copy const& s, std::span<std::uintptr_t> pcs) noexcept;

}  // namespace nopal::core
