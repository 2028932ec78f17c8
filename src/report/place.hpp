#pragma once

// Where in the program something happened: for exceptions, and for the last line of a program that misuses nopal.

#include <string>

namespace nopal::core {

/// The program's function that `function` is or, if that is null, the innermost of those that call here; and what the program calls what runs
/// here. "in f, loader"; "" where it cannot be known. Throws nothing.
std::string place_of(void const* function) noexcept;

/// What an exception says, with the program's function that it is about.
std::string with_place(std::string message);

}  // namespace nopal::core
