#include "nopal/core/task/move_awaiter.hpp"

#include <stdexcept>

#include "report/place.hpp"

namespace nopal::inline NOPAL_ABI::core {

std::exception_ptr move_misuse() noexcept {
  try {
    throw std::logic_error{with_place(
        "nopal::resume_on between fork and join: this task's stack may belong to a child now; move before the first fork, or after the "
        "join")};
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace nopal::core
