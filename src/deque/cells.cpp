#include "nopal/core/deque/cells.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace nopal::inline NOPAL_ABI::core {

namespace {

// A mapping begins and ends with a page; the cells in it may be fewer bytes.
std::size_t whole_pages(std::size_t bytes) noexcept { return (bytes + page_size() - 1) / page_size() * page_size(); }

}  // namespace

void* map_guarded(std::size_t bytes) noexcept {
  std::size_t const used = whole_pages(bytes);
  void* const all = ::mmap(nullptr, used + page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  if (::mprotect(all, used, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(all, used + page_size());
    return nullptr;
  }
  return static_cast<std::byte*>(all) + (used - bytes);  // so that it ends where the guard begins
}

void unmap_guarded(void* memory, std::size_t bytes) noexcept {
  std::size_t const used = whole_pages(bytes);
  ::munmap(static_cast<std::byte*>(memory) - (used - bytes), used + page_size());
}

bool is_guarded_end(void const* end, void const* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(end) < page_size();
}

}  // namespace nopal::core
