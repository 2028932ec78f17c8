#pragma once

// How many mappings the process may have. The kernel allows vm.max_map_count; once they are used up, malloc, new threads and dlopen fail
// too. So native stacks leave some of them to the program. Any thread may call; there is one count for all pools. Below: the
// regions, which ask. Next: stack_pool.hpp, which says why there is no stack.

#include <array>
#include <bitset>
#include <cstddef>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// True if `n` more mappings may be made for stacks; they count as made then. Usually one atomic operation. Each time half of what is left
/// was used up, it counts the lines of /proc/self/maps, under a mutex. False: fewer than mappings_left() would be left.
bool may_map(long n) noexcept;
/// `n` of them were not made, or were unmapped.
void unmapped(long n) noexcept;

/// The number of mappings that the process has and may have; 0: unknown.
struct mapping_counts {
  long have;
  long most;
};
/// Counts them. Takes some milliseconds if there are many.
mapping_counts count_mappings() noexcept;
/// The number of mappings that stay for the program if `most` are allowed.
long mappings_left(long most) noexcept;

/// The thread that forks holds the lock during the fork: scheduler/process.cpp.
void hold_mapping_count() noexcept;
void release_mapping_count() noexcept;

/// The number with which the file at `path` begins, after `skip` other numbers; -1 if there is none.
long read_number(char const* path, int skip = 0) noexcept;

// A region: one mapping that is cut into native stacks of one size, its places. The kernel allows a process some 65,530 mappings, and a
// stack with a guard page of its own would take two of them. A region takes two in all, if the kernel knows guard pages that need no
// mapping (MADV_GUARD_INSTALL, Linux 6.13). All members are called under the mutex of the stack_pool that has the region, unless they say
// otherwise. Next: stack_pool.hpp, which makes regions.

/// Places for stacks. Each place is as many bytes as a stack, and aligned to them. A place that no stack has holds no memory but the page
/// table of its guard.
class stack_region {
 public:
  /// The most places of one region, and the most bytes unless one place is larger.
  static constexpr std::size_t most_places = 1024;
  static constexpr std::size_t most_bytes = std::size_t{16} << 30;
  /// The most bytes of a pool's first region, likewise.
  static constexpr std::size_t most_first_bytes = std::size_t{1} << 30;

  /// Maps a region of `places` places of `size` bytes, a power of two. Null: there is no memory, no address space, or no mapping for it,
  /// and `error` is the system's reason.
  static stack_region* map(std::size_t size, std::size_t page, std::size_t places, int& error) noexcept;
  stack_region(stack_region const&) = delete;
  stack_region& operator=(stack_region const&) = delete;
  /// Unmaps it. Needs no mutex, once no other thread knows the region.
  ~stack_region();

  bool full() const noexcept { return used_ == places_; }
  bool unused() const noexcept { return used_ == 0; }
  std::size_t places() const noexcept { return places_; }

  /// The lowest free place, all accessible but its first page, which is the guard. The content is unknown. Null: the system refuses, and
  /// `error` is its reason. The region is not full.
  std::byte* take(int& error) noexcept;
  /// The place at `base` is free, and its content is gone: see clear.
  void put(std::byte* base) noexcept;
  /// Gives back all memory of the place at `base`, but for its guard. By the thread that has taken the place; needs no mutex.
  void clear(std::byte* base) const noexcept { discard(base + page_, size_ - page_); }
  /// Gives back the pages [from, from + bytes), also if the program has locked its memory (mlockall). False: the pages stay. By the thread
  /// that has taken the place in which they are; needs no mutex.
  bool discard(std::byte* from, std::size_t bytes) const noexcept;

  /// As discard, by a new mapping in the place of the pages.
  bool remap(std::byte* from, std::size_t bytes) const noexcept;

  // In a pool's list of regions that are not full.
  stack_region* before = nullptr;
  stack_region* after = nullptr;

 private:
  stack_region(std::byte* first, std::size_t size, std::size_t page, std::size_t places) noexcept
      : first_{first}, size_{size}, page_{page}, places_{places} {}

  bool learn() noexcept;
  bool open(std::size_t place) noexcept;
  bool open_with_mappings(std::size_t place) noexcept;
  bool guard_all() const noexcept;
  bool lock_as_touched() const noexcept;

  std::byte* const first_;  // the first place
  std::size_t const size_;
  std::size_t const page_;
  std::size_t const places_;
  std::byte* from_ = nullptr;  // the whole mapping
  std::byte* to_ = nullptr;
  std::size_t used_ = 0;
  std::size_t lowest_ = 0;  // all places below are taken
  std::bitset<most_places> taken_;
  std::bitset<most_places> opened_;  // accessible, and guarded
  bool markers_ = false;             // its guards are no mappings of their own
  long mappings_ = 0;                // that it takes, at most
};

}  // namespace nopal::core
