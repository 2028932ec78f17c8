#include "nopal/core/base/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24  // Linux 5.18; older headers lack it
#endif

namespace nopal::inline NOPAL_ABI::core {

// Any thread may ask first, also while another one forks: so it has no guard.
std::size_t page_size() noexcept {
  static constinit std::atomic<std::size_t> known{0};
  std::size_t size = known.load(std::memory_order_relaxed);  // relaxed: whoever asks the system finds the same
  if (size == 0) {
    size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    known.store(size, std::memory_order_relaxed);  // relaxed: as above
  }
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

extern "C" [[gnu::weak]] void __lsan_register_root_region(void const* begin, std::size_t bytes);

extern "C" {
[[gnu::weak]] void __lsan_disable();
[[gnu::weak]] void __lsan_enable();
[[gnu::weak]] void* __asan_get_current_fake_stack();
}

namespace nopal::inline NOPAL_ABI::core {

// ---- LeakSanitizer.

bool leaks_are_looked_for() noexcept { return &__lsan_register_root_region != nullptr; }

void add_leak_root(void const* begin, std::size_t bytes) noexcept {
  if (leaks_are_looked_for()) __lsan_register_root_region(begin, bytes);
}

void add_mapping_as_leak_root(void const* address) noexcept {
  if (!leaks_are_looked_for() || address == nullptr) return;
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return;
  auto const at = reinterpret_cast<std::uintptr_t>(address);
  std::array<char, 512> line;
  while (std::fgets(line.data(), static_cast<int>(line.size()), maps) != nullptr) {
    std::uintptr_t low = 0, high = 0;
    if (std::sscanf(line.data(), "%" SCNxPTR "-%" SCNxPTR, &low, &high) != 2 || at < low || at >= high) continue;
    __lsan_register_root_region(reinterpret_cast<void const*>(low), high - low);  // NOLINT(performance-no-int-to-ptr)
    break;
  }
  std::fclose(maps);
}

void const* frames_here() noexcept {
  void* const elsewhere = &__asan_get_current_fake_stack != nullptr ? __asan_get_current_fake_stack() : nullptr;
  return elsewhere != nullptr ? elsewhere : __builtin_frame_address(0);
}

not_for_leak_check::not_for_leak_check() noexcept {
  if (&__lsan_disable != nullptr) __lsan_disable();
}
not_for_leak_check::~not_for_leak_check() {
  if (&__lsan_enable != nullptr) __lsan_enable();
}

}  // namespace nopal::core
