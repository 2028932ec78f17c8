#pragma once

// The messages of the exceptions that counters keep for their waiters. Reports read them here, since the counter may be gone. Called by
// src/counters.cpp, on any thread. Next: report.cpp, which reads them.

#include <exception>
#include <string>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Calls f(with), which gives `e` to the counter at `where`. From then on until drop_held a report can print the message of `e`, if there
/// is memory for it.
void hold(void const* where, std::exception_ptr const& e, void (*f)(void*), void* with) noexcept;
template <class F>
void hold(void const* where, std::exception_ptr const& e, F f) noexcept {
  hold(where, e, [](void* with) { (*static_cast<F*>(with))(); }, &f);
}
/// Calls f(with), which takes the exception from the counter at `where` or destroys the counter, and removes the message.
void drop_held(void const* where, void (*f)(void*), void* with) noexcept;
template <class F>
void drop_held(void const* where, F f) noexcept {
  drop_held(where, [](void* with) { (*static_cast<F*>(with))(); }, &f);
}
/// The message of the exception that the counter at `where` keeps; "" if none is known. Throws std::bad_alloc.
std::string message_held(void const* where);

/// The thread that forks holds the list's lock during the fork: scheduler/scheduler.cpp.
void hold_exceptions() noexcept;
void release_exceptions() noexcept;

}  // namespace nopal::core
