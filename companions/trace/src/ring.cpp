#include "trace/src/ring.hpp"

#include <algorithm>
#include <bit>

#include "nopal/core/base/sync.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

std::uint64_t word(void const* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

}  // namespace

trace_ring::trace_ring(std::size_t room, std::uint64_t id)
    : mask_{std::bit_ceil(std::max<std::size_t>(room, 2)) - 1},
      places_{std::make_unique<place[]>(mask_ + 1)},
      next_span_{(id << span_numbers) + 1} {}

// Readers may copy places at the same time.
void trace_ring::put(trace_event const& e) noexcept {
  std::uint64_t const n = count_.load(std::memory_order_relaxed);  // relaxed: one thread writes at a time
  // Pairs with the acquire fence in take: a reader that has read a word written below then reads a count of n at least, which says that
  // this place is being overwritten.
  std::atomic_thread_fence(std::memory_order_release);
  place& p = places_[n & mask_];
  p.time.store(e.time, std::memory_order_relaxed);  // relaxed, here and below: the fence above, and the release below
  p.what.store(e.what, std::memory_order_relaxed);
  p.a.store(e.a, std::memory_order_relaxed);
  p.b.store(e.b, std::memory_order_relaxed);
  count_.store(n + 1, std::memory_order_release);  // release: pairs with the acquire in take, for the words
}

void trace_ring::record(traced kind, std::uint64_t extra, void const* text, void const* object) noexcept {
  put({std_sync::now(), static_cast<std::uint64_t>(kind) | extra << trace_event::extra_begins, word(text), word(object)});
}

void trace_ring::begins(traced kind, std::uint64_t extra, void const* text, void const* object) noexcept {
  runs_ = true;
  record(kind, extra, text, object);
}

void trace_ring::searches() noexcept {
  if (!runs_) return;
  runs_ = false;
  record(traced::ended);
}

void trace_ring::leaves(traced kind, std::uint64_t extra, void const* text, void const* object) noexcept {
  runs_ = false;
  record(kind, extra, text, object);
}

void trace_ring::rests() noexcept { asleep_since_.store(std_sync::now(), std::memory_order_relaxed); }  // relaxed: ring.hpp
void trace_ring::gets_up(bool slept) noexcept {
  std::int64_t const since = asleep_since_.exchange(0, std::memory_order_relaxed);  // relaxed: as above
  if (slept) rested(traced::slept, since);
}
void trace_ring::begins_nap() noexcept { naps_since_ = std_sync::now(); }
void trace_ring::ends_nap() noexcept { rested(traced::napped, naps_since_); }

void trace_ring::rested(traced kind, std::int64_t since) noexcept {
  put({std_sync::now(), static_cast<std::uint64_t>(kind), static_cast<std::uint64_t>(since), 0});
}

void trace_ring::stacks(std::uint64_t n) noexcept {
  if (n == last_stacks_) return;
  last_stacks_ = n;
  put({std_sync::now(), static_cast<std::uint64_t>(traced::stacks), n, 0});
}

std::uint64_t trace_ring::begin_span(char const* name) noexcept {
  std::uint64_t const id = next_span_++;
  put({std_sync::now(), static_cast<std::uint64_t>(traced::span_began), word(name), id});
  return id;
}

void trace_ring::end_span(std::uint64_t id) noexcept { put({std_sync::now(), static_cast<std::uint64_t>(traced::span_ended), 0, id}); }

// The worker may record at the same time, and overwrite places that are copied here: their copies are thrown away.
trace_copy trace_ring::take() {
  std::uint64_t const room = mask_ + 1;
  std::uint64_t const end = count_.load(std::memory_order_acquire);  // acquire: pairs with the release in put
  std::uint64_t first = std::max(taken_, end > room ? end - room : 0);
  trace_copy copy;
  copy.events.reserve(end - first);
  for (std::uint64_t n = first; n != end; ++n) {
    place const& p = places_[n & mask_];
    // relaxed: the acquire above, and the fence below
    copy.events.push_back({p.time.load(std::memory_order_relaxed), p.what.load(std::memory_order_relaxed),
                           p.a.load(std::memory_order_relaxed), p.b.load(std::memory_order_relaxed)});
  }
  std::atomic_thread_fence(std::memory_order_acquire);               // pairs with the release fence in put
  std::uint64_t const now = count_.load(std::memory_order_relaxed);  // relaxed: the fence orders it
  // Event n may be overwritten, by event n + room, as soon as the count is n + room. (If the worker writes nothing, it is dropped without
  // need.)
  std::uint64_t const whole = now >= room ? std::min(now - room + 1, end) : 0;
  if (whole > first) {
    copy.events.erase(copy.events.begin(), copy.events.begin() + static_cast<std::ptrdiff_t>(whole - first));
    first = whole;
  }
  copy.dropped = first - taken_;
  copy.asleep_since = asleep_since_.load(std::memory_order_relaxed);  // relaxed: ring.hpp
  taken_ = end;
  return copy;
}

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
