#include "nopal/core/base/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

namespace {

struct whole_pages {
  std::byte* first;
  std::size_t bytes;
  whole_pages(void* from, std::size_t n) noexcept {
    std::size_t const page = page_size();
    first = static_cast<std::byte*>(from) + (page - reinterpret_cast<std::uintptr_t>(from) % page) % page;
    auto* const end = static_cast<std::byte*>(from) + n;
    bytes = end > first ? static_cast<std::size_t>(end - first) / page * page : 0;
  }
};

}  // namespace

void discard_inside(void* from, std::size_t bytes) noexcept {
  whole_pages const all{from, bytes};
  if (all.bytes != 0) discard_pages(all.first, all.bytes);  // where the system refuses, nothing is lost but memory
}

std::size_t resident_inside(void* from, std::size_t bytes, std::size_t enough) noexcept {
  whole_pages const all{from, bytes};
  std::array<unsigned char, 512> in_memory;
  std::size_t const page = page_size(), at_once = in_memory.size() * page;
  std::size_t resident = 0;
  for (std::size_t done = 0; done < all.bytes && resident <= enough; done += at_once) {
    std::size_t const part = std::min(all.bytes - done, at_once);
    if (::mincore(all.first + done, part, in_memory.data()) != 0) return 0;
    auto const n = std::count_if(in_memory.begin(), in_memory.begin() + static_cast<std::ptrdiff_t>(part / page),
                                 [](unsigned char c) { return (c & 1) != 0; });
    resident += static_cast<std::size_t>(n) * page;
  }
  return resident;
}

void prefer_huge_pages(void* from, std::size_t bytes) noexcept {
  whole_pages const all{from, bytes};
  ::madvise(all.first, all.bytes, MADV_HUGEPAGE);
}

}  // namespace nopal::core
