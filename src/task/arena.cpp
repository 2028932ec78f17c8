#include "nopal/core/task/arena.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "nopal/core/task/stacklet.hpp"

namespace nopal::inline NOPAL_ABI::core {

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
