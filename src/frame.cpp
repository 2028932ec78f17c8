#include "nopal/core/frame.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace nopal::core {

// std::exception_ptr is one pointer that may be moved bytewise into the frame's raw storage and back; the storage holds a live
// object exactly while the join word says "recorded".
static_assert(sizeof(std::exception_ptr) == sizeof(frame::first) && alignof(std::exception_ptr) <= alignof(void*));

static std::exception_ptr& first_of(frame& f) noexcept { return *std::launder(reinterpret_cast<std::exception_ptr*>(&f.first)); }

void frame::record(std::uint64_t stolen, std::exception_ptr e) noexcept {
  join.record([&](bool recorded) {
    if (!recorded) {
      ::new (static_cast<void*>(&first)) std::exception_ptr{std::move(e)};
      when = stolen;
    } else if (stolen < when) {
      std::swap(first_of(*this), e);
      when = stolen;
    }
  });
}

std::exception_ptr frame::take() noexcept {
  state = 0;
  std::exception_ptr e = std::move(first_of(*this));
  std::destroy_at(&first_of(*this));
  join.reset();
  return e;
}

void frame::rethrow() { std::rethrow_exception(take()); }

}  // namespace nopal::core
