// The slow path of stack_array, called by the worker that runs the task.

#include "nopal/scratch.hpp"

#include <stdexcept>
#include <string>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "report/place.hpp"

namespace nopal::inline NOPAL_ABI::core {

void release_scratch(void* block, std::size_t bytes) noexcept {
  core::arena& a = current()->arena;
  if (a.top() != static_cast<std::byte*>(block) + bytes) {
    die("a stack_array was destroyed between fork and join, or not in reverse order of creation; join before its scope ends");
  }
  a.release(block);
  a.tidy();
}

std::exception_ptr scratch_misuse(std::size_t n, bool in_scope) noexcept {
  try {
    if (in_scope) {
      throw std::logic_error{with_place("nopal::stack_array(" + std::to_string(n) +
                                        ") between fork and join: this task's stack may belong to a child now; make the array before the "
                                        "first fork, or after the join")};
    }
    throw std::invalid_argument{
        with_place("nopal::stack_array(0): scratch memory has at least 1 element; make none where there is nothing to store")};
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace nopal::core
