#pragma once

// Giving pages of memory back to the system while they stay mapped: the next touch finds zeros in a fresh page. Called by the rooms that
// keep memory for later, when nothing has used it for a while.

#include <atomic>
#include <cstddef>

#include "nopal/core/compiler/abi.h"
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

// Memory that LeakSanitizer must search for pointers if a process ends while threads still work on native stacks: it knows only each
// thread's own stack. Used by the rooms stack and scheduler. This is a side path: nothing comes after it.

/// True if LeakSanitizer is there. Without it, the functions below do nothing.
bool leaks_are_looked_for() noexcept;
/// It will search [begin, begin + bytes), or the part of it that is mapped then.
void add_leak_root(void const* begin, std::size_t bytes) noexcept;
/// It will search the mapping that holds `address`. Does nothing if that is null, or nothing is mapped there. Reads /proc/self/maps.
void add_mapping_as_leak_root(void const* address) noexcept;

/// An address in the memory that has the frames of the stack which runs here: AddressSanitizer's own for this stack, if it keeps some there.
void const* frames_here() noexcept;

/// The process ends, and pools stay: a stack that is made from now on is a root too. relaxed: a thread that misses it for a moment was
/// about to make its stack before.
inline std::atomic<bool> new_stacks_are_leak_roots{false};

// Memory that LeakSanitizer must not take for a leak: only native stacks, or the beginning of a thread, point to it, and it does not look
// there. Used by the rooms stack and scheduler. This is a side path: nothing comes after it.

/// While it lives, this thread's allocations count as no leak.
struct not_for_leak_check {
  not_for_leak_check() noexcept;
  not_for_leak_check(not_for_leak_check const&) = delete;
  not_for_leak_check& operator=(not_for_leak_check const&) = delete;
  ~not_for_leak_check();
};

}  // namespace nopal::core
