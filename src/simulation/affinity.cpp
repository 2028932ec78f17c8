#include "simulation/affinity.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>

namespace nopal::inline NOPAL_ABI::core {

void move_to(std::vector<int> const& cpus) noexcept {
  if (cpus.empty()) return;
  auto const n = static_cast<std::size_t>(*std::max_element(cpus.begin(), cpus.end())) + 1;
  cpu_set_t* const set = CPU_ALLOC(n);
  if (set == nullptr) return;
  std::size_t const size = CPU_ALLOC_SIZE(n);
  CPU_ZERO_S(size, set);
  for (int const cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size, set);
  static_cast<void>(::sched_setaffinity(0, size, set));
  CPU_FREE(set);
}

}  // namespace nopal::core
