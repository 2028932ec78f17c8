#pragma once

// How a program ends that misuses nopal where the compiler cannot refuse it and an exception would leave nothing to continue: with one line
// that says what happened and what to write instead. Any thread, on any stack. Next: src/report/place.hpp, which names the program's
// function.

#include <array>
#include <cstddef>
#include <exception>
#include <new>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Prints `what` in one line on stderr, with the program's function that has called the library if that can be known, and aborts.
NOPAL_API [[noreturn]] NOPAL_COLD void die(char const* what) noexcept;
/// As die, with the text that printf would make of `format` and the rest, up to 1023 bytes. `function`: an address in the program's
/// function that the line is about; null: the function that has called the library.
NOPAL_API [[noreturn, gnu::format(printf, 2, 3)]] NOPAL_COLD void die_in(void const* function, char const* format, ...) noexcept;
/// As die, for an object that was destroyed while it is used. Does nothing if the process is about to end, since static objects are
/// destroyed then while fibers still run.
NOPAL_API NOPAL_COLD void die_unless_in_exit(char const* what) noexcept;
/// Lets the exception of an object that exit destroys live for ever, for those that use it still. A leak check finds it by `e`.
inline void keep_for_ever(std::exception_ptr const& e) noexcept {
  alignas(std::exception_ptr) std::array<std::byte, sizeof(std::exception_ptr)> never_destroyed;
  ::new (static_cast<void*>(never_destroyed.data())) std::exception_ptr{e};
}
/// The exception that the caller, a handler of all exceptions, handles. If it is not one of C++, the thread is about to end, by
/// pthread_exit or by cancellation, which a job or a hook must not do to a thread of nopal's: then this ends the program with a message.
NOPAL_API NOPAL_COLD std::exception_ptr caught() noexcept;
/// The message of an exception, valid as long as `e` lives. `e` is not null.
NOPAL_API NOPAL_COLD char const* message_of(std::exception_ptr const& e) noexcept;

/// Adds the name of the program's function to die's line; `function` as in die_in. In report/place.cpp: fatal errors happen in every room,
/// and the code that reads symbol tables is above all of them. A plain call, so that each program that holds die() holds that too.
void print_place(void const* function) noexcept;

}  // namespace nopal::core
