#pragma once

// The chain of calls on a native stack that no thread runs: the C++ runtime's unwinder walks only the stack on which it is called. Called
// by companion.cpp, for reports, on any thread.

#include <cstddef>
#include <cstdint>
#include <span>

#include "debug/src/code_map.hpp"
#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Fills `pcs` with the return addresses on the stack, the innermost first, as far as the unwind information of the code goes. Returns
/// their number. If a thread ran the stack while it was copied, they have no meaning, but the walk is safe.
std::size_t walk(code_map const& code, stack_copy const& s, std::span<std::uintptr_t> pcs) noexcept;

}  // namespace nopal::core
