#include "nopal/core/base/process.hpp"

namespace nopal::core {

constinit unsigned process_number = 1;

}  // namespace nopal::core
