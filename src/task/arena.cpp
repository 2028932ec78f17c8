#include "nopal/core/task/arena.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "nopal/core/base/pages.hpp"
#include "nopal/core/base/tuning.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Segments, and the central free list of them.

namespace {

// Bytes of the segments that arenas of all pools have. relaxed: it orders nothing.
std::atomic<std::size_t> used_by_all{0};

constexpr std::size_t class_of(std::size_t size) noexcept { return static_cast<std::size_t>(std::countr_zero(size)); }

stacklet* make(std::size_t size) {
  // nothrow: so std::bad_alloc is thrown here only, also if the program has replaced operator new.
  void* const p = ::operator new(size, std::align_val_t{alignof(stacklet)}, std::nothrow);
  if (p == nullptr) throw std::bad_alloc{};
  auto* const s = ::new (p) stacklet{};  // NOLINT(clang-analyzer-cplusplus.PlacementNew): its callers ask for a segment at least
  s->size = size;
  return s;
}

}  // namespace

void central_stacklet_list::chain::push(stacklet* s) noexcept { s->below = std::exchange(first, s); }

stacklet* central_stacklet_list::chain::pop() noexcept { return first == nullptr ? nullptr : std::exchange(first, first->below); }

central_stacklet_list::~central_stacklet_list() {
  for (size_class& c : by_size_) {
    for (chain* which : {&c.touched, &c.clean}) {
      while (stacklet* const s = which->pop()) ::operator delete(s, std::align_val_t{alignof(stacklet)});
    }
  }
}

// ---- Under the mutex.

// relaxed: it orders nothing.
void central_stacklet_list::changed(std::size_t bytes) noexcept { spare_.store(spare() + bytes, std::memory_order_relaxed); }

void central_stacklet_list::taken(std::size_t bytes) noexcept {
  std::size_t const all = used_by_all.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  used_.store(std::min(used() + bytes, all), std::memory_order_relaxed);  // less where tasks have taken segments to other pools
  used_peak_ = std::max(used_peak_, used());
}

stacklet* central_stacklet_list::take_touched(size_class& c) noexcept {
  stacklet* const s = c.touched.pop();
  if (s == nullptr) return nullptr;
  c.least = std::min(c.least, --c.count);
  changed(std::size_t{0} - s->size);
  return s;
}

// The largest first: fewer calls.
central_stacklet_list::chain central_stacklet_list::take_excess() noexcept {
  chain excess;
  for (std::size_t k = classes; k-- > 0 && used() + spare() > used_peak_;) {
    while (used() + spare() > used_peak_) {
      stacklet* const s = take_touched(by_size_[k]);
      if (s == nullptr) break;
      excess.push(s);
    }
  }
  return excess;
}

// ---- Without the mutex.

// No other thread knows these segments: a worker that needs one gets a new one. The first page of each stays, since it holds the head.
void central_stacklet_list::discard(chain which) noexcept {
  if (which.first == nullptr) return;
  for (stacklet* s = which.first; s != nullptr; s = s->below) discard_inside(s->begin(), s->size - sizeof(stacklet));
  std::lock_guard const guard{mutex_};
  while (stacklet* const s = which.pop()) by_size_[class_of(s->size)].clean.push(s);
}

stacklet* central_stacklet_list::get(std::size_t bytes) {
  std::size_t const size = std::bit_ceil(bytes);
  size_class& c = by_size_[class_of(size)];
  stacklet* s = nullptr;
  {
    std::lock_guard const guard{mutex_};
    s = take_touched(c);
    if (s != nullptr) {
      taken(size);
      return s;
    }
    s = c.clean.pop();
  }
  if (s == nullptr) s = make(size);
  chain excess;
  {
    std::lock_guard const guard{mutex_};
    taken(size);
    excess = take_excess();
  }
  discard(excess);
  return s;
}

void central_stacklet_list::put(stacklet* s) noexcept {
  {
    std::lock_guard const guard{mutex_};
    // relaxed, both: they order nothing. Not below 0 where tasks have brought segments from other pools.
    used_by_all.fetch_sub(s->size, std::memory_order_relaxed);
    used_.store(used() - std::min(used(), s->size), std::memory_order_relaxed);
    size_class& c = by_size_[class_of(s->size)];
    c.touched.push(s);
    ++c.count;
    changed(s->size);
  }
  if (much_ != nullptr && spare() > tuning::little_memory) [[unlikely]]
    much_(with_);
}

void central_stacklet_list::trim() noexcept {
  chain unused;
  {
    std::lock_guard const guard{mutex_};
    for (size_class& c : by_size_) {
      stacklet** end = &c.touched.first;
      for (std::size_t k = c.least; k < c.count; ++k) end = &(*end)->below;  // the segments put last stay: they are in the cache
      chain old{std::exchange(*end, nullptr)};
      while (stacklet* const s = old.pop()) {
        changed(std::size_t{0} - s->size);
        unused.push(s);
      }
      c.least = c.count -= c.least;
    }
  }
  discard(unused);
}

// relaxed: it orders nothing.
std::size_t central_stacklet_list::used_at_most() const noexcept { return std::min(used(), used_by_all.load(std::memory_order_relaxed)); }

stacklet_counts central_stacklet_list::counts() const noexcept {
  std::lock_guard const guard{mutex_};
  return {used_at_most(), used_peak_, spare()};
}

// ---- The arena.

arena::~arena() {
  if (central_list_ == nullptr) return;
  if (segment_ != nullptr) central_list_->put(segment_);
  if (kept_ != nullptr) central_list_->put(kept_);
}

void arena::enter(stacklet* s, std::byte* top) noexcept {
  segment_ = s;
  base_ = s->begin();
  end_ = s->end();
  top_ = top;
}

// The largest segment that an arena keeps: twice the topmost, the size of its next growth. A larger one was made for a single allocation.
std::size_t arena::most_to_keep() const noexcept { return 2 * (segment_ != nullptr ? segment_->size : first_size); }

// Keeps the segment that was left last, for the next growth. Keeping the largest instead would skip a size when the arena grows again.
void arena::keep_or_return(stacklet* s) noexcept {
  if (s->size > most_to_keep()) {
    central_list_->put(s);
  } else {
    if (kept_ != nullptr) central_list_->put(kept_);
    kept_ = s;
  }
  return_what_is_too_large();
}

void arena::return_what_is_too_large() noexcept {
  if (kept_ != nullptr && kept_->size > most_to_keep()) central_list_->put(std::exchange(kept_, nullptr));
}

void arena::leave_all() noexcept {
  segment_ = nullptr;
  top_ = end_ = base_ = nothing_;
}

void* arena::grow(std::size_t n) {
  if (n > max_request) throw std::bad_alloc{};
  std::size_t const twice = segment_ == nullptr ? first_size : 2 * segment_->size;
  std::size_t const size = std::max(twice, n + sizeof(stacklet));
  stacklet* s = nullptr;
  if (kept_ != nullptr && kept_->size >= size && kept_->size <= 2 * size) {
    s = std::exchange(kept_, nullptr);
  } else {
    s = central_list_->get(size);
  }
  poison(s->begin(), s->size - sizeof(stacklet));
  s->below = segment_;
  s->alarm = keep;
  s->floor = 0;
  stacklet* too_small = nullptr;
  if (segment_ != nullptr) {
    segment_->top = top_;
    if (empty() && segment_->below == nullptr) {  // an empty first segment
      s->below = nullptr;
      too_small = segment_;
    }
  }
  enter(s, s->begin());
  if (too_small != nullptr) keep_or_return(too_small);
  void* p;
  bump(n, p);
  return p;
}

std::uintptr_t arena::tidy() noexcept {
  if (!empty() || segment_ == nullptr) return keep;
  stacklet* const s = segment_;
  if (s->below != nullptr) {
    enter(s->below, s->below->top);
  } else {
    if (s->size <= 2 * first_size) return keep;
    leave_all();
  }
  std::uintptr_t const alarm = s->alarm;
  keep_or_return(s);
  return alarm;
}

stacklet* arena::detach() noexcept {
  tidy();
  stacklet* s = nullptr;
  if (!empty()) {
    s = segment_;
    s->top = top_;
    s->epoch = epoch;
  } else if (segment_ != nullptr) {
    keep_or_return(segment_);
  }
  leave_all();
  return_what_is_too_large();
  return s;
}

void arena::put_spare() noexcept {
  if (segment_ != nullptr && empty() && segment_->below == nullptr && segment_->size > first_size) detach();
  if (kept_ != nullptr && kept_->size > first_size) central_list_->put(std::exchange(kept_, nullptr));
}

void arena::attach(stacklet* s) noexcept {
  if (s == nullptr) return;
  detach();
  enter(s, s->top);
  epoch = s->epoch;
}

}  // namespace nopal::core
