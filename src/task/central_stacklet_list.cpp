#include "nopal/core/task/central_stacklet_list.hpp"

#include <bit>
#include <new>
#include <utility>

#include "nopal/core/base/pages.hpp"

namespace nopal::core {

central_stacklet_list::~central_stacklet_list() {
  for (stacklet* s : free_) {
    while (s != nullptr) ::operator delete(std::exchange(s, s->below), std::align_val_t{alignof(stacklet)});
  }
}

stacklet* central_stacklet_list::get(std::size_t bytes) {
  std::size_t const size = std::bit_ceil(bytes);
  auto const cls = static_cast<std::size_t>(std::countr_zero(size));
  {
    std::lock_guard const guard{mutex_};
    if (stacklet* const s = free_[cls]; s != nullptr) {
      free_[cls] = s->below;
      ++taken_;
      if (!std::exchange(s->clean, false)) changed(std::size_t{0} - s->size);
      return s;
    }
  }
  // nothrow: so std::bad_alloc is thrown here and nowhere else, whatever the program put in operator new's place.
  void* const p = ::operator new(size, std::align_val_t{alignof(stacklet)}, std::nothrow);
  if (p == nullptr) throw std::bad_alloc{};
  auto* const s = ::new (p) stacklet{};
  s->size = size;
  return s;
}

void central_stacklet_list::push(lists& l, stacklet* s) noexcept {
  auto const cls = static_cast<std::size_t>(std::countr_zero(s->size));
  s->below = std::exchange(l[cls], s);
}

// Under the mutex. relaxed: it orders nothing.
void central_stacklet_list::changed(std::size_t bytes) noexcept { spare_.store(spare() + bytes, std::memory_order_relaxed); }

void central_stacklet_list::put(stacklet* s) noexcept {
  std::lock_guard const guard{mutex_};
  push(free_, s);
  changed(s->size);
}

// Workers may take and put meanwhile. While the pages go back the list is empty: whoever needs a segment then gets a new one. The first
// page of each stays, since its head lies there.
bool central_stacklet_list::trim() noexcept {
  lists all;
  {
    std::lock_guard const guard{mutex_};
    if (std::exchange(taken_before_, taken_) != taken_) return false;
    all = std::exchange(free_, {});
    changed(std::size_t{0} - spare());
  }
  for (stacklet* const first : all) {
    for (stacklet* s = first; s != nullptr; s = s->below) {
      if (!std::exchange(s->clean, true)) discard_inside(s->begin(), s->size - sizeof(stacklet));
    }
  }
  std::lock_guard const guard{mutex_};
  for (stacklet* s : all) {
    while (s != nullptr) push(free_, std::exchange(s, s->below));
  }
  return true;
}

}  // namespace nopal::core
