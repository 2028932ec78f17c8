#include "allocation_switch.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> failing{false};

[[maybe_unused]] void* allocate(std::size_t size, std::align_val_t alignment) noexcept {
  auto const a = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(a, (size + a - 1) / a * a);
}

}  // namespace

void test::fail_nothrow_allocations(bool fail) { failing = fail; }

#ifndef TEST_KEEPS_OPERATOR_NEW
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* const p = allocate(size, alignment)) return p;
  throw std::bad_alloc{};
}
void* operator new(std::size_t size, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  if (failing || test::memory_is_out) return nullptr;
  ++test::blocks_made;
  return allocate(size, alignment);
}
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, std::nothrow_t const&) noexcept { std::free(p); }
#endif
