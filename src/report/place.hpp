#pragma once

// Where in the program something happened: for what an exception says, and for the last line of a program that misuses nopal. Any thread.
// Next: code_names.hpp, which names the functions.

#include <string>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// In which of the program's functions the caller is, in words: "in f, loader". f is `function` or, if that is null, the innermost of the
/// program's functions that call here; loader is the name of what runs on this stack (nopal::fiber_name). "" where neither is known. Throws
/// nothing.
std::string place_of(void const* function) noexcept;

/// `message`, for an exception, with the program's function that calls here in parentheses. Throws std::bad_alloc.
std::string with_place(std::string message);

}  // namespace nopal::core
