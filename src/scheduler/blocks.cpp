#include "nopal/core/scheduler/blocks.hpp"

#include <cstddef>
#include <utility>

#include "nopal/core/base/tuning.hpp"

// glibc's only. Without it small blocks that are freed do not go back to the system.
extern "C" int malloc_trim(std::size_t) __attribute__((weak));

namespace nopal::inline NOPAL_ABI::core {

// Workers may get and put at the same time.
bool central_block_list::trim() noexcept {
  std::array<block*, sizes> all;
  std::size_t n;
  {
    std::lock_guard const guard{mutex_};
    if (std::exchange(taken_before_, taken_) != taken_) return false;
    all = std::exchange(chains_, {});
    n = spare();
    count_.store(0, std::memory_order_relaxed);  // relaxed: it orders nothing
  }
  for (block* chain : all) {
    while (chain != nullptr) free(std::exchange(chain, chain->next_chain));
  }
  freed_ += n;
  if (freed_ >= tuning::chains_worth_a_trim && malloc_trim != nullptr) {
    freed_ = 0;
    malloc_trim(0);
  }
  return true;
}

}  // namespace nopal::core
