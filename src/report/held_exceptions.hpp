#pragma once

// What the exceptions say that counters hold until somebody waits: for reports, which must not touch a counter that may be gone.

#include <exception>
#include <string>

namespace nopal::core {

/// Calls f(), which gives `e` to the counter at `where`. Afterwards a report can say what e says, if there is memory for that, until drop_held.
void hold(void const* where, std::exception_ptr const& e, void (*f)(void*), void* with) noexcept;
template <class F>
void hold(void const* where, std::exception_ptr const& e, F f) noexcept {
  hold(where, e, [](void* with) { (*static_cast<F*>(with))(); }, &f);
}
/// The counter at `where` gives its exception away, by f(), or is destroyed.
void drop_held(void const* where, void (*f)(void*), void* with) noexcept;
template <class F>
void drop_held(void const* where, F f) noexcept {
  drop_held(where, [](void* with) { (*static_cast<F*>(with))(); }, &f);
}
/// What the exception says that the counter at `where` holds; "" if none is known. Throws std::bad_alloc.
std::string message_held(void const* where);

}  // namespace nopal::core
