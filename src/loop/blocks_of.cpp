#include "nopal/core/loop/blocks_of.hpp"

#include <stdexcept>
#include <string>

namespace nopal::inline NOPAL_ABI::core {

void reject_negative(std::int64_t first, unsigned bits) {
  throw std::invalid_argument{"nopal::parallel_for: first = " + std::to_string(first) + " is below 0, the least value of the unsigned " +
                              std::to_string(bits) +
                              "-bit type in which the loop counts, since last has that type; convert last to a signed type"};
}

}  // namespace nopal::core
