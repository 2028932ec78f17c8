#pragma once

// Events of threads that do not work for the pool; several may record at once. Keeps the oldest, as many as fit, and counts the rest,
// without a lock or an allocation. ../README.md, "Threads outside". Next: pool_trace.hpp, outside_spans.cpp, each of which has one.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "nopal/core/compiler/config.hpp"
#include "trace/src/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

class shared_ring {
 public:
  /// `room`: the number of events kept. Throws std::bad_alloc.
  explicit shared_ring(std::size_t room) : room_{room}, places_{std::make_unique<place[]>(room)} {}

  /// Records an event, now. Any thread. Returns its number, unique in this ring.
  NOPAL_COLD std::uint64_t record(traced kind, void const* text = nullptr, std::uint64_t b = 0) noexcept;

  /// The number of events; some of the last may not be written yet. Any thread.
  std::size_t size() const noexcept;
  /// The number of events that did not fit. Any thread.
  std::uint64_t dropped() const noexcept;
  /// Event i < size(); of kind `nothing` if it is not written yet. Any thread.
  trace_event at(std::size_t i) const noexcept;

 private:
  struct place {
    std::atomic<std::uint64_t> what{0};
    std::int64_t time = 0;  // these are written before `what`, and never again
    std::uint64_t a = 0, b = 0;
  };

  std::size_t const room_;
  std::unique_ptr<place[]> const places_;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace nopal::core
