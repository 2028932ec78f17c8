#pragma once

// trace_span: a phase of the program, in the trace of its pool: docs/trace.md. Next: companions/trace/README.md, "Spans".

#include "nopal/core/compiler/config.hpp"

#include <cstdint>

namespace nopal::inline NOPAL_ABI {

/// The name of a span: a string literal, since the name is read when the trace is written. Anything else does not compile.
class span_name {
 public:
  consteval span_name(char const* literal) : text_{literal} {}  // NOLINT(google-explicit-constructor): trace_span s{"phase"}
  constexpr char const* text() const noexcept { return text_; }

 private:
  char const* text_;
};

/// A span from the object's construction to its destruction, on any workers and threads, across any waits. A trace (pool_options::trace,
/// NOPAL_TRACE) shows it as a slice on a track of that name.
///
///     nopal::trace_span s{"load"};
///
/// In any function, fiber or task, across co_await too, and on any thread. Throws nothing. Costs a call and a load where nothing is
/// recorded, else some 50 ns.
class NOPAL_API trace_span {
 public:
  explicit trace_span(span_name name) noexcept;
  trace_span(trace_span const&) = delete;
  trace_span& operator=(trace_span const&) = delete;
  ~trace_span() {
    if (id_ != 0) [[unlikely]]
      end();
  }

 private:
  NOPAL_COLD void end() noexcept;

  std::uint64_t id_;
};

}  // namespace nopal
