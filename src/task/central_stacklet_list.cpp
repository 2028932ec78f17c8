#include "nopal/core/task/central_stacklet_list.hpp"

#include <bit>
#include <new>
#include <utility>

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

void central_stacklet_list::put(stacklet* s) noexcept {
  auto const cls = static_cast<std::size_t>(std::countr_zero(s->size));
  std::lock_guard const guard{mutex_};
  s->below = free_[cls];
  free_[cls] = s;
}

}  // namespace nopal::core
