#pragma once

#include <string>

namespace bench {

// No runtime at all: the serial projection, which speed-up and overhead are measured against.
struct serial_runtime {
  explicit serial_runtime(unsigned /*workers*/) {}
  static std::string version() { return "serial"; }
};

}  // namespace bench
