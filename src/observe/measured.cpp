#include "nopal/core/observe/measured.hpp"

#include "nopal/core/stack/stack.hpp"
#include "nopal/core/task/fork_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

// Of threads that work for no pool. They are on their own stacks, which no other thread ever resumes: so a compiler may keep the address.
static constinit thread_local measured_words outside{};

measured_words& measured_here() noexcept {
  stack* const here = state_here()->here;
  return here != nullptr ? here->measured : outside;
}

}  // namespace nopal::core
