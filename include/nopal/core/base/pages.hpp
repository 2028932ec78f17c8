#pragma once

// Giving pages of memory back to the system while they stay mapped: the next touch finds zeros in a fresh page. Called by the rooms that
// keep memory for later, when nothing has used it for a while.

#include <cstddef>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

std::size_t page_size() noexcept;

/// Gives back the pages [from, from + bytes), whose content is lost, also if the program has locked its memory (mlockall). `from` begins a
/// page. False: they stay. By the owner of the memory.
bool discard_pages(void* from, std::size_t bytes) noexcept;
/// Gives back the whole pages inside [from, from + bytes). The rest of the pages at its two ends stays. By the owner of the memory.
void discard_inside(void* from, std::size_t bytes) noexcept;
/// Bytes of these whole pages that are in memory; the count stops above `enough`. 0 if the kernel does not say. One system call for each 2
/// MiB.
std::size_t resident_inside(void* from, std::size_t bytes, std::size_t enough) noexcept;

/// From so many bytes on, memory is worth pages of 2 MiB.
inline constexpr std::size_t huge_page = std::size_t{1} << 21;
inline constexpr std::size_t worth_huge_pages = 2 * huge_page;
/// Asks for pages of 2 MiB in [from, from + bytes), which no thread has touched: then first touches and unmapping enter the kernel 512
/// times less often. Changes nothing if the system gives none. By the owner of the memory.
NOPAL_API void prefer_huge_pages(void* from, std::size_t bytes) noexcept;

}  // namespace nopal::core
