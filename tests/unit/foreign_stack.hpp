#pragma once

// A stack that nopal did not make: the program switches to it by itself, as with ucontext or Boost.Context.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "nopal/core/stack/stack.hpp"
#include "nopal/pool.hpp"

#if NOPAL_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if NOPAL_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace test {

inline constexpr std::size_t kib = 1024;
inline std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
inline std::uintptr_t word(void const* p) { return reinterpret_cast<std::uintptr_t>(p); }

/// Memory at an address of our choice: on this side of the calling stack.
enum class side { above, below };
inline char const* name(side s) { return s == side::above ? "above" : "below"; }

/// A mapping on side `s` of the caller's stack, as near as possible: a sanitizer takes much of the address space. Null if no address is
/// free.
inline std::byte* map_on(side s, std::size_t bytes) {
  constexpr std::uintptr_t step = std::uintptr_t{2} << 20;
  std::uintptr_t const from = nopal::core::stack_pointer() / step * step;
  for (std::uintptr_t k = 2; k * step < from && k * step < std::uintptr_t{1} << 47; k += 1 + k / 32) {
    std::uintptr_t const at = s == side::above ? from + k * step : from - k * step - (bytes + step - 1) / step * step;
    auto* const wanted = reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr)
    void* const p = ::mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == wanted) return static_cast<std::byte*>(p);
    if (p != MAP_FAILED) ::munmap(p, bytes);
  }
  return nullptr;
}

/// A stack that nopal does not know, with memory on both sides that must not change.
///
///      | pattern | guard |  stack, grows down  | pattern |
class foreign_stack {
 public:
  explicit foreign_stack(side s, std::size_t bytes = 64 * kib) : bytes_{bytes} {
    map_ = map_on(s, all());
    if (map_ == nullptr) map_ = map_on(s == side::above ? side::below : side::above, all());  // from a stack at the very end
    if (map_ == nullptr) throw std::runtime_error{std::string{"no place for a stack "} + name(s)};
    std::fill_n(map_, around, pattern);
    std::fill_n(low() + bytes_, around, pattern);
    ::mprotect(low() - page(), page(), PROT_NONE);
  }
  foreign_stack(foreign_stack const&) = delete;
  foreign_stack& operator=(foreign_stack const&) = delete;
  ~foreign_stack() { ::munmap(map_, all()); }

  /// Calls f() there, and rethrows what it throws.
  void run(std::function<void()> f) {
    f_ = std::move(f);
    ::getcontext(&inside_);
    inside_.uc_stack.ss_sp = low();
    inside_.uc_stack.ss_size = bytes_;
    inside_.uc_link = nullptr;
    std::uintptr_t const self = word(this);
    ::makecontext(&inside_, reinterpret_cast<void (*)()>(begin), 2, static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
#if NOPAL_ASAN
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, low(), bytes_);
#endif
#if NOPAL_TSAN
    outside_fiber_ = __tsan_get_current_fiber();
    void* const inside_fiber = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(inside_fiber, 0);
#endif
    ::swapcontext(&outside_, &inside_);
#if NOPAL_ASAN
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
#if NOPAL_TSAN
    __tsan_destroy_fiber(inside_fiber);
#endif
    f_ = nullptr;
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  bool holds(std::uintptr_t sp) const { return sp - word(low()) < bytes_; }
  bool is_intact() const {
    auto const is_pattern = [](std::byte b) { return b == pattern; };
    return std::all_of(map_, map_ + around, is_pattern) && std::all_of(low() + bytes_, low() + bytes_ + around, is_pattern);
  }

 private:
  static constexpr std::size_t around = 256 * kib;
  static constexpr std::byte pattern{0xa5};

  std::byte* low() const { return map_ + around + page(); }
  std::size_t all() const { return around + page() + bytes_ + around; }

  static void begin(unsigned high, unsigned low) {
    // A task may go on on another thread, where the stack that was left is the same.
    auto& self = *reinterpret_cast<foreign_stack*>(std::uintptr_t{high} << 32 | low);  // NOLINT(performance-no-int-to-ptr)
#if NOPAL_ASAN
    void const* outer = nullptr;
    std::size_t outer_bytes = 0;
    __sanitizer_finish_switch_fiber(nullptr, &outer, &outer_bytes);
#endif
    try {
      self.f_();
    } catch (...) {
      self.error_ = std::current_exception();
    }
#if NOPAL_ASAN
    __sanitizer_start_switch_fiber(nullptr, outer, outer_bytes);
#endif
#if NOPAL_TSAN
    __tsan_switch_to_fiber(self.outside_fiber_, 0);
#endif
    ::setcontext(&self.outside_);  // this never returns: ThreadSanitizer would miss the call that it noted on the other fiber
  }

  std::size_t bytes_;
  std::byte* map_ = nullptr;
  ucontext_t outside_{}, inside_{};
  std::function<void()> f_;
  std::exception_ptr error_;
  [[maybe_unused]] void* outside_fiber_ = nullptr;
};

/// Calls f(side) on a worker of a pool, on both sides of its stack, and also checks the frames below and above.
template <class F>
void on_both_sides(nopal::pool& pool, F f) {
  for (side const s : {side::above, side::below}) {
    SCOPED_TRACE(name(s));
    pool.run([&] {
      std::byte volatile below_us[4096];
      for (std::size_t k = 0; k < sizeof below_us; ++k) below_us[k] = std::byte{0x5a};
      f(s);
      std::size_t changed = 0;
      for (std::size_t k = 0; k < sizeof below_us; ++k) changed += below_us[k] != std::byte{0x5a};
      EXPECT_EQ(changed, 0u) << "bytes of the worker's own stack";
    });
  }
}

}  // namespace test
