#pragma once

// The place of an error in the program: for the message of an exception, and for the last line of a program that misuses nopal. Any thread.
// Next: code_names.hpp, the names of functions.

#include <string>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// The program's function that the caller is in, in words: "in f, loader". f is `function` or, if that is null, the innermost of the
/// program's functions that call here; loader is the name of what runs on this stack (nopal::fiber_name). "" if neither is known. Throws
/// nothing.
std::string place_of(void const* function) noexcept;

/// `message`, for an exception, with the program's function that calls here in parentheses. Throws std::bad_alloc.
std::string with_place(std::string message);

}  // namespace nopal::core
