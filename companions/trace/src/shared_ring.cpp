#include "trace/src/shared_ring.hpp"

#include <algorithm>

#include "nopal/core/base/sync.hpp"

namespace nopal::inline NOPAL_ABI::core {

std::uint64_t shared_ring::record(traced kind, void const* text, std::uint64_t b) noexcept {
  std::uint64_t const n = next_.fetch_add(1, std::memory_order_relaxed);  // relaxed: each thread gets a place of its own
  if (n >= room_) return n;
  place& p = places_[n];
  p.time = std_sync::now();
  p.a = reinterpret_cast<std::uintptr_t>(text);
  p.b = b;
  p.what.store(static_cast<std::uint64_t>(kind),
               std::memory_order_release);  // release: pairs with the acquire in at, for the rest
  return n;
}

// relaxed, in these two: `at` reads whether a place is written, by acquire
std::size_t shared_ring::size() const noexcept { return std::min<std::uint64_t>(next_.load(std::memory_order_relaxed), room_); }
std::uint64_t shared_ring::dropped() const noexcept {
  std::uint64_t const n = next_.load(std::memory_order_relaxed);
  return n > room_ ? n - room_ : 0;
}

trace_event shared_ring::at(std::size_t i) const noexcept {
  place const& p = places_[i];
  std::uint64_t const what = p.what.load(std::memory_order_acquire);  // acquire: pairs with the release in record
  return what == 0 ? trace_event{} : trace_event{p.time, what, p.a, p.b};
}

}  // namespace nopal::core
