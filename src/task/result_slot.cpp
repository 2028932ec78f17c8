#include "nopal/core/task/result_slot.hpp"

#include <array>
#include <cstddef>

namespace nopal::inline NOPAL_ABI::core {

// A page of constants, so that writing a result of up to that size to its beginning is a fault.
alignas(64) static constexpr std::array<std::byte, 4096> no_slot{};

void* place_without_slot() noexcept { return const_cast<std::byte*>(no_slot.data()); }
bool is_without_slot(void const* address) noexcept { return address >= no_slot.data() && address < no_slot.data() + no_slot.size(); }

}  // namespace nopal::core
