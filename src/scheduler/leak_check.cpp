#include "nopal/core/scheduler/leak_check.hpp"

#include <array>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "nopal/core/scheduler/worker.hpp"

extern "C" [[gnu::weak]] void __lsan_register_root_region(void const* begin, std::size_t bytes);

namespace nopal::core {

namespace {

// A context that was left lies in a frame of the thread's own stack. How far that reaches, the kernel knows.
void register_from(std::uintptr_t address) noexcept {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return;
  std::array<char, 512> line;
  while (std::fgets(line.data(), static_cast<int>(line.size()), maps) != nullptr) {
    std::uintptr_t low = 0, high = 0;
    if (std::sscanf(line.data(), "%" SCNxPTR "-%" SCNxPTR, &low, &high) != 2 || address < low || address >= high) continue;
    __lsan_register_root_region(reinterpret_cast<void const*>(low), high - low);  // NOLINT(performance-no-int-to-ptr)
    break;
  }
  std::fclose(maps);
}

}  // namespace

// Destructors that the loader calls would be too late. Without memory to note f, LeakSanitizer may see leaks that are none.
void call_before_leak_check(void (*f)() noexcept) noexcept {
  if (&__lsan_register_root_region != nullptr) static_cast<void>(std::atexit(f));
}

// Other threads still work for the pool. What they change meanwhile is a matter of the moment, as the check itself is.
void note_for_leak_check(pool_state const& pool) noexcept {
  if (&__lsan_register_root_region == nullptr) return;
  pool.stacks.for_each([](stack const& s) {
    __lsan_register_root_region(s.low(), static_cast<std::size_t>(reinterpret_cast<std::byte const*>(&s + 1) - s.low()));
  });
  for (worker const* w : pool.workers) {
    for (context const* home : {w->home, w->thread_home}) {  // the first may be a caller's, which has gone: then it says nothing
      if (home != nullptr) register_from(reinterpret_cast<std::uintptr_t>(home));
    }
  }
}

}  // namespace nopal::core
