#include "nopal/core/task/arena.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "nopal/core/task/central_stacklet_list.hpp"

namespace nopal::core {

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

// Keeps the segment that was left last, which the next growth wants. To keep the largest instead would leave a size out when the arena
// grows again.
void arena::keep_or_return(stacklet* s) noexcept {
  if (kept_ != nullptr) central_list_->put(kept_);
  kept_ = s;
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
  if (segment_ != nullptr) {
    segment_->top = top_;
    if (empty() && segment_->below == nullptr) {  // an empty first segment that is too small
      s->below = nullptr;
      keep_or_return(segment_);
    }
  }
  enter(s, s->begin());
  void* p;
  bump(n, p);
  return p;
}

std::uintptr_t arena::tidy() noexcept {
  if (!empty() || segment_ == nullptr || segment_->below == nullptr) return keep;
  stacklet* const s = segment_;
  enter(s->below, s->below->top);
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
  segment_ = nullptr;
  top_ = end_ = base_ = nothing_;
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
