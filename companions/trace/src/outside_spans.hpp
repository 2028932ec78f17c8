#pragma once

// Spans of threads that work for no pool. Such a thread keeps no pool alive, so these are kept for the whole process, from its first trace
// on. ../README.md, "Threads outside". Next: ../include/nopal/trace_span.hpp, which users see.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A span begins on a thread that works for no pool. Returns its id; 0: nothing is traced. Any thread.
std::uint64_t begin_span_outside(char const* name) noexcept;
/// `id`: not 0. Any thread.
void end_span_outside(std::uint64_t id) noexcept;

}  // namespace nopal::core
