#pragma once

// A worker's small blocks of memory: fibers that have not started come and go too fast for malloc. Next: ../fiber.hpp.

#include <array>
#include <cstddef>
#include <new>

#include "nopal/core/config.hpp"

namespace nopal::core {

/// Blocks from ::operator new, kept by size for the next who asks. Owner only; a block may be put into another one than it came from.
class block_cache {
 public:
  block_cache() = default;
  block_cache(block_cache const&) = delete;
  block_cache& operator=(block_cache const&) = delete;
  ~block_cache() {
    for (list& l : lists_) {
      while (l.first != nullptr) {
        link* const b = l.first;
        l.first = b->next;
        ::operator delete(b);
      }
    }
  }

  /// Throws std::bad_alloc.
  NOPAL_INLINE void* get(std::size_t size) {
    if (size > largest) [[unlikely]] return ::operator new(size);
    list& l = lists_[(size - 1) / step];
    if (l.first == nullptr) [[unlikely]] return ::operator new((size + step - 1) / step * step);
    link* const b = l.first;
    l.first = b->next;
    --l.count;
    return b;
  }
  NOPAL_INLINE void put(void* p, std::size_t size) noexcept {
    if (size > largest) [[unlikely]] return ::operator delete(p);
    list& l = lists_[(size - 1) / step];
    if (l.count == most) [[unlikely]] return ::operator delete(p);
    l.first = ::new (p) link{l.first};
    ++l.count;
  }

  static constexpr std::size_t step = 32;
  static constexpr std::size_t largest = 256;
  static constexpr std::size_t most = 1024;  ///< of each size

 private:
  struct link {
    link* next;
  };
  struct list {
    link* first = nullptr;
    std::size_t count = 0;
  };
  std::array<list, largest / step> lists_{};
};

}  // namespace nopal::core
