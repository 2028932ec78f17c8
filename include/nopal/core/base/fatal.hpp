#pragma once

// How a program ends that misuses nopal in a way which can be neither refused by the compiler nor thrown: with one line that says what
// happened and what to write instead.

#include <exception>

#include "nopal/core/compiler/config.hpp"

namespace nopal::core {

/// Ends the program with one line on stderr. It also names the program's function that has called here, where that can be known.
NOPAL_API [[noreturn]] NOPAL_COLD void die(char const* what) noexcept;
/// Ends the program likewise, with what printf would make of the rest. `function`: the program's function that the line is about; or null.
NOPAL_API [[noreturn, gnu::format(printf, 2, 3)]] NOPAL_COLD void die_in(void const* function, char const* format, ...) noexcept;
/// What an exception says, valid as long as `e` lives.
NOPAL_API NOPAL_COLD char const* message_of(std::exception_ptr const& e) noexcept;

/// Adds to that line the program's function that `function` is, or, if it is null, that has called here. Set by report/place.hpp, if that is
/// linked: fatal errors happen in every room, and what reads symbol tables stands above all of them.
using place_printer = void (*)(void const* function) noexcept;
extern place_printer print_place;

}  // namespace nopal::core
