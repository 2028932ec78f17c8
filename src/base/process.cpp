#include "nopal/core/base/process.hpp"

namespace nopal::inline NOPAL_ABI::core {

constinit unsigned process_number = 1;

}  // namespace nopal::core
