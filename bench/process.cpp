#include "process.hpp"

#include <fstream>
#include <limits>

namespace bench {

std::string compiler() {
#if defined(__clang__)
  return __VERSION__;
#else
  return "GCC " __VERSION__;
#endif
}

long peak_rss_kib() {
  // Not getrusage(): its figure begins with that of the process which started this one, and survives exec.
  std::ifstream status{"/proc/self/status"};
  for (std::string key; status >> key; status.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    long value = 0;
    if (key == "VmHWM:" && status >> value) return value;
  }
  return 0;
}

}  // namespace bench
