#include "nopal/profile/not_kept.hpp"

#include <atomic>

namespace nopal::inline NOPAL_ABI::core {

static constinit std::atomic<std::uint64_t> times{0};

// relaxed: a number; nothing else is read because of it.
void out_of_memory() noexcept { times.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t times_out_of_memory() noexcept { return times.load(std::memory_order_relaxed); }

}  // namespace nopal::core
