#include "nopal/core/task/arena.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/base/pages.hpp"
#include "nopal/core/base/tuning.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Segments, and the central free list of them.

namespace {

constexpr std::size_t class_of(std::size_t size) noexcept { return static_cast<std::size_t>(std::countr_zero(size)); }

stacklet* make(std::size_t size) {
  // nothrow: so std::bad_alloc is thrown here only, also if the program has replaced operator new.
  void* const p = ::operator new(size, std::align_val_t{alignof(stacklet)}, std::nothrow);
  if (p == nullptr) throw std::bad_alloc{};
  auto* const s = ::new (p) stacklet{};  // NOLINT(clang-analyzer-cplusplus.PlacementNew): its callers ask for a segment at least
  s->size = size;
  return s;
}

void free_all(stacklet_chain& which) noexcept {
  while (stacklet* const s = which.pop()) ::operator delete(s, std::align_val_t{alignof(stacklet)});
}

// The first page stays, since it holds the head.
void discard_pages_of(stacklet& s) noexcept { discard_inside(s.begin(), s.size - sizeof(stacklet)); }

// The segments of no pool: tasks have brought them to another pool than they were got from. The pool that they come from needs the next
// ones, and the other has no use for them. So each list gets from here what it does not have. One is made only where neither
// the list nor this has one of its size: so of each size there are no more than the arenas of all pools have had, each at its most. At most
// tuning::little_memory bytes of them keep their pages.
class segments_of_no_pool {
 public:
  void list_begins() noexcept {
    std::lock_guard const guard{mutex_};
    ++lists_;
  }
  // No thread loads from these segments any more once there is no pool.
  void list_ends() noexcept {
    std::array<pair, classes> all;
    {
      std::lock_guard const guard{mutex_};
      if (--lists_ > 0) return;
      all = std::exchange(by_size_, {});
      touched_bytes_ = 0;
    }
    for (pair& c : all) {
      free_all(c.touched);
      free_all(c.clean);
    }
  }

  void put(stacklet* s) noexcept {
    pair& c = by_size_[class_of(s->size)];
    {
      std::lock_guard const guard{mutex_};
      if (s->size <= tuning::little_memory - touched_bytes_) {
        touched_bytes_ += s->size;
        c.touched.push(s);
        return;
      }
    }
    discard_pages_of(*s);
    std::lock_guard const guard{mutex_};
    c.clean.push(s);
  }
  /// Null: there is none.
  stacklet* get(std::size_t size) noexcept {
    pair& c = by_size_[class_of(size)];
    std::lock_guard const guard{mutex_};
    if (stacklet* const s = c.touched.pop()) {
      touched_bytes_ -= size;
      return s;
    }
    return c.clean.pop();
  }

  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  static constexpr std::size_t classes = 64;  // by log2 of the size
  struct pair {
    stacklet_chain touched, clean;  // clean: pages given back, all but the first of each
  };

  own_mutex mutex_;
  std::array<pair, classes> by_size_{};
  std::size_t touched_bytes_ = 0;  // of all `touched`, at most tuning::little_memory
  std::size_t lists_ = 0;
};
constinit segments_of_no_pool of_no_pool;

}  // namespace

void hold_segments_of_no_pool() noexcept { of_no_pool.lock(); }
void release_segments_of_no_pool() noexcept { of_no_pool.unlock(); }

void stacklet_chain::push(stacklet* s) noexcept { s->below = std::exchange(first, s); }

stacklet* stacklet_chain::pop() noexcept { return first == nullptr ? nullptr : std::exchange(first, first->below); }

central_stacklet_list::central_stacklet_list(much_function much, void* with) : much_{much}, with_{with}, used_{new used_bytes} {
  of_no_pool.list_begins();
}

central_stacklet_list::~central_stacklet_list() {
  for (size_class& c : by_size_) {
    for (stacklet_chain* which : {&c.touched, &c.clean}) {
      stacklet_chain own;
      while (stacklet* const s = which->pop()) {
        if (s->was_elsewhere) {
          of_no_pool.put(s);
        } else {
          own.push(s);
        }
      }
      free_all(own);
    }
  }
  used_->close();
  of_no_pool.list_ends();
}

// ---- Under the mutex.

// relaxed: it orders nothing.
void central_stacklet_list::changed(std::size_t bytes) noexcept { spare_.store(spare() + bytes, std::memory_order_relaxed); }

void central_stacklet_list::taken(stacklet& s) noexcept {
  s.counted_in = used_;
  used_peak_ = std::max(used_peak_, used_->add(s.size));
}

stacklet* central_stacklet_list::take_touched(size_class& c) noexcept {
  stacklet* const s = c.touched.pop();
  if (s == nullptr) return nullptr;
  c.least = std::min(c.least, --c.count);
  changed(std::size_t{0} - s->size);
  return s;
}

// The largest first: fewer calls.
stacklet_chain central_stacklet_list::take_excess() noexcept {
  stacklet_chain excess;
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

// No other thread knows these segments: a worker that needs one gets a new one.
void central_stacklet_list::discard(stacklet_chain which) noexcept {
  if (which.first == nullptr) return;
  for (stacklet* s = which.first; s != nullptr; s = s->below) discard_pages_of(*s);
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
      taken(*s);
      return s;
    }
    s = c.clean.pop();
  }
  if (s == nullptr) s = of_no_pool.get(size);
  if (s == nullptr) s = make(size);
  stacklet_chain excess;
  {
    std::lock_guard const guard{mutex_};
    taken(*s);
    excess = take_excess();
  }
  discard(excess);
  return s;
}

void central_stacklet_list::put(stacklet* s) noexcept {
  if (s->counted_in != used_) [[unlikely]] {
    s->counted_in->subtract(s->size);
    s->was_elsewhere = true;
    of_no_pool.put(s);
    return;
  }
  {
    std::lock_guard const guard{mutex_};
    used_->subtract(s->size);
    size_class& c = by_size_[class_of(s->size)];
    c.touched.push(s);
    ++c.count;
    changed(s->size);
  }
  if (much_ != nullptr && spare() > tuning::little_memory) [[unlikely]]
    much_(with_);
}

void central_stacklet_list::trim() noexcept {
  stacklet_chain unused;
  {
    std::lock_guard const guard{mutex_};
    for (size_class& c : by_size_) {
      stacklet** end = &c.touched.first;
      for (std::size_t k = c.least; k < c.count; ++k) end = &(*end)->below;  // the segments put last stay: they are in the cache
      stacklet_chain old{std::exchange(*end, nullptr)};
      while (stacklet* const s = old.pop()) {
        changed(std::size_t{0} - s->size);
        unused.push(s);
      }
      c.least = c.count -= c.least;
    }
  }
  discard(unused);
}

stacklet_counts central_stacklet_list::counts() const noexcept {
  std::lock_guard const guard{mutex_};
  return {used(), used_peak_, spare()};
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
