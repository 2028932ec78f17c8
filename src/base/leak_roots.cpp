#include "nopal/core/base/leak_roots.hpp"

#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>

extern "C" [[gnu::weak]] void __lsan_register_root_region(void const* begin, std::size_t bytes);

extern "C" {
[[gnu::weak]] void __lsan_disable();
[[gnu::weak]] void __lsan_enable();
[[gnu::weak]] void* __asan_get_current_fake_stack();
}

namespace nopal::inline NOPAL_ABI::core {

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
