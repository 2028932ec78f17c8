#include "nopal/core/task/frame.hpp"

#include <utility>

namespace nopal::inline NOPAL_ABI::core {

void frame::record(std::uint64_t stolen, std::exception_ptr e) noexcept { first.record(join, stolen, std::move(e)); }

std::exception_ptr frame::take() noexcept {
  state = 0;
  return first.take(join);
}

void frame::rethrow() { std::rethrow_exception(take()); }

}  // namespace nopal::core
