#include "nopal/core/deque/join_word.hpp"

#include <memory>
#include <new>
#include <utility>

namespace nopal::inline NOPAL_ABI::core {

// std::exception_ptr is one pointer. The storage of a kept exception holds a live std::exception_ptr exactly while the join word says
// "recorded".
static_assert(sizeof(std::exception_ptr) == sizeof(kept_exception::first) && alignof(std::exception_ptr) <= alignof(void*));

static std::exception_ptr& live(kept_exception& k) noexcept { return *std::launder(reinterpret_cast<std::exception_ptr*>(&k.first)); }

void kept_exception::record(join_word& join, std::uint64_t stolen, std::exception_ptr e) noexcept {
  join.record([&](bool recorded) {
    if (!recorded) {
      ::new (static_cast<void*>(&first)) std::exception_ptr{std::move(e)};
      when = stolen;
    } else if (stolen < when) {
      std::swap(live(*this), e);
      when = stolen;
    }
  });
}

std::exception_ptr kept_exception::take(join_word& join) noexcept {
  std::exception_ptr e = std::move(live(*this));
  std::destroy_at(&live(*this));
  join.reset();
  return e;
}

std::exception_ptr kept_exception::look(join_word& join) noexcept {
  when = 0;
  join.keep_recorded();
  return live(*this);
}

}  // namespace nopal::core
