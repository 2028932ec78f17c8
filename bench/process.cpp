#include "process.hpp"

#include <sys/resource.h>

#include <fstream>
#include <limits>
#include <string>

namespace bench {
namespace {

long status_kib(const std::string& wanted) {
  std::ifstream status{"/proc/self/status"};
  for (std::string key; status >> key; status.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    long value = 0;
    if (key == wanted && status >> value) return value;
  }
  return 0;
}

}  // namespace

std::string compiler() {
#if defined(__clang__)
  return __VERSION__;
#else
  return "GCC " __VERSION__;
#endif
}

long peak_rss_kib() {
  // Not getrusage(): its figure begins with that of the process which started this one, and survives exec.
  return status_kib("VmHWM:");
}

long rss_kib() { return status_kib("VmRSS:"); }

void forget_peak() {
  std::ofstream clear{"/proc/self/clear_refs"};
  clear << 5;
}

long minor_page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

}  // namespace bench
