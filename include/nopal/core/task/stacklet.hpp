#pragma once

// One segment of the segmented stack of task frames. Only its arena, and the worker that has the arena, may touch it. Next: arena.hpp.

#include <cstddef>
#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// The head of one segment; its bytes follow.
struct alignas(64) stacklet {
  stacklet* below;       ///< the segment under this one; null in the first
  std::byte* top;        ///< first free byte, while no worker has the arena
  std::size_t size;      ///< bytes of the whole block, a power of two
  std::uint64_t epoch;   ///< the arena's epoch, while no worker has it
  std::uintptr_t alarm;  ///< the worker's alarm before this segment was added: grow_arena in slow_path.hpp
  std::int64_t floor;    ///< the deque's bottom when this segment was added: no pop makes an older entry private again, see worker::floor

  std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  std::byte* end() noexcept { return reinterpret_cast<std::byte*>(this) + size; }
};

}  // namespace nopal::core
