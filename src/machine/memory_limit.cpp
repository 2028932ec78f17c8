#include "machine/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "base/read_text.hpp"
#include "machine/cgroup.hpp"

namespace nopal::inline NOPAL_ABI::core {

std::uint64_t choose_memory_limit(std::size_t asked) {
  if (asked != 0) return asked;
  char const* const text = std::getenv("NOPAL_MEMORY_LIMIT");  // NOLINT(concurrency-mt-unsafe): the environment must not change meanwhile
  std::uint64_t n = 0;
  if (text != nullptr && *text != '\0') {
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    if (!read_all(text, n) || n > most) {
      throw std::invalid_argument("nopal::pool: NOPAL_MEMORY_LIMIT = \"" + std::string{text} + "\" is no number of MiB from 1 to " +
                                  std::to_string(most) + "; write one, or unset it: half of the memory that the process may use then");
    }
  }
  return n != 0 ? n << 20 : usable_memory() / 2;
}

std::uint64_t usable_memory() {
  std::uint64_t least = ~std::uint64_t{0};
  auto const pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) least = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  for (auto const what : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit l{};
    if (::getrlimit(what, &l) == 0 && l.rlim_cur != RLIM_INFINITY) least = std::min<std::uint64_t>(least, l.rlim_cur);
  }
  for_each_cgroup("/proc/self/cgroup", "/sys/fs/cgroup", "memory", [&](std::string const& folder, int version) {
    std::ifstream in{folder + (version == 2 ? "/memory.max" : "/memory.limit_in_bytes")};
    if (std::uint64_t most = 0; in >> most && most != 0) least = std::min(least, most);  // "max" is no number
  });
  return least;
}

}  // namespace nopal::core
