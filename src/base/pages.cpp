#include "nopal/core/base/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24  // Linux 5.18; older headers lack it
#endif

namespace nopal::inline NOPAL_ABI::core {

std::size_t page_size() noexcept {
  static std::size_t const size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

// Locked memory refuses the first advice.
bool discard_pages(void* from, std::size_t bytes) noexcept {
  return ::madvise(from, bytes, MADV_DONTNEED) == 0 || (errno == EINVAL && ::madvise(from, bytes, MADV_DONTNEED_LOCKED) == 0);
}

void discard_inside(void* from, std::size_t bytes) noexcept {
  std::size_t const page = page_size();
  auto* const first = static_cast<std::byte*>(from) + (page - reinterpret_cast<std::uintptr_t>(from) % page) % page;
  auto* const end = static_cast<std::byte*>(from) + bytes;
  std::size_t const whole = end > first ? static_cast<std::size_t>(end - first) / page * page : 0;
  if (whole != 0) discard_pages(first, whole);  // where the system refuses, nothing is lost but memory
}

}  // namespace nopal::core
