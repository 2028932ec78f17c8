// Maps regions, guards their places, and gives their memory back.

#include "nopal/core/stack/stack_region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>

#include "nopal/core/base/leak_roots.hpp"
#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/base/pages.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"

// Older headers lack them.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102  // Linux 6.13
#endif

namespace nopal::inline NOPAL_ABI::core {

namespace {

constinit own_mutex counting;
constinit std::array<char, 8192> buffer{};  // under `counting`: the caller's stack may be nearly full
constinit std::int64_t again_at = 0;        // under `counting`: after a refusal, mappings are not counted again before this time

// Mappings that may be made before the next count.
constinit std::atomic<long> credit{tuning::mappings_uncounted};

// relaxed, wherever `credit` is used: a count, which orders nothing.
bool take(long n) noexcept {
  if (credit.fetch_sub(n, std::memory_order_relaxed) >= n) return true;
  credit.fetch_add(n, std::memory_order_relaxed);
  return false;
}

// Under `counting`.
mapping_counts count() noexcept {
  mapping_counts c{0, read_number("/proc/sys/vm/max_map_count")};
  int const file = c.most > 0 ? ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return {0, 0};
  for (ssize_t n; (n = ::read(file, buffer.data(), buffer.size())) > 0;) c.have += std::count(buffer.begin(), buffer.begin() + n, '\n');
  ::close(file);
  return c;
}

}  // namespace

void hold_mapping_count() noexcept { counting.lock(); }
void release_mapping_count() noexcept { counting.unlock(); }

long mappings_left(long most) noexcept { return std::min(tuning::mappings_left, most / 4); }

bool may_map(long n) noexcept {
  if (take(n)) [[likely]]
    return true;
  std::lock_guard const guard{counting};
  if (take(n)) return true;
  std::int64_t const now = std_sync::now();
  if (now < again_at) return false;
  mapping_counts const c = count();
  if (c.have == 0) {  // unknown: the kernel itself will refuse
    // relaxed: a count.
    credit.store(std::numeric_limits<long>::max() / 2, std::memory_order_relaxed);
    return true;
  }
  long const free = c.most - mappings_left(c.most) - c.have;
  if (free < n) {
    again_at = now + tuning::mappings_counted_again;
    return false;
  }
  // relaxed: a count.
  credit.store(std::max(free / 2, std::min(free, tuning::mappings_uncounted)) - n, std::memory_order_relaxed);
  return true;
}

void unmapped(long n) noexcept { credit.fetch_add(n, std::memory_order_relaxed); }  // relaxed: a count

mapping_counts count_mappings() noexcept {
  std::lock_guard const guard{counting};
  return count();
}

long read_number(char const* path, int skip) noexcept {
  std::array<char, 128> text;
  int const file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t const n = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  if (n <= 0) return -1;
  text[static_cast<std::size_t>(n)] = '\0';
  char const* at = text.data();
  for (char* end; skip >= 0; --skip, at = end) {
    long const number = std::strtol(at, &end, 10);
    if (end == at) return -1;
    if (skip == 0) return number;
  }
  return -1;
}

namespace {

void* map_bytes(std::size_t bytes, int access) noexcept {
  return ::mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

bool mark_guard(std::byte* at, std::size_t page) noexcept { return ::madvise(at, page, MADV_GUARD_INSTALL) == 0; }

bool is_resident(std::byte* at, std::size_t page) noexcept {
  unsigned char resident = 0;
  return ::mincore(at, page, &resident) == 0 && (resident & 1) != 0;
}

}  // namespace

stack_region* stack_region::map(std::size_t size, std::size_t page, std::size_t places, int& error) noexcept {
  // For the region's accessible places, and the rest. Without guard markers each place takes two more, when it is opened.
  constexpr long own = 2;
  error = ENOMEM;
  if (!may_map(own)) return nullptr;
  // A mapping of one place more than needed, less a page, holds aligned ones; the parts before and behind those are unmapped at once. All
  // is mapped without access: so it counts as no memory, and none of it comes into memory if the program has locked what it will map.
  std::size_t const bytes = places * size + size - page;
  void* const all = map_bytes(bytes, PROT_NONE);
  if (all == MAP_FAILED) {
    error = errno;
    unmapped(own);
    return nullptr;
  }
  auto* const from = static_cast<std::byte*>(all);
  std::byte* const first = from + (size - reinterpret_cast<std::uintptr_t>(from) % size) % size;
  std::byte* const end = first + places * size;
  not_for_leak_check const only_stacks_point_to_it;
  auto* const r = new (std::nothrow) stack_region{first, size, page, places};
  if (r == nullptr) {
    ::munmap(from, bytes);
    unmapped(own);
    return nullptr;
  }
  // If the kernel does not unmap a part, the region keeps it.
  r->from_ = from == first || ::munmap(from, static_cast<std::size_t>(first - from)) == 0 ? first : from;
  r->to_ = end == from + bytes || ::munmap(end, static_cast<std::size_t>(from + bytes - end)) == 0 ? end : from + bytes;
  r->mappings_ = own;
  ::madvise(first, places * size, MADV_NOHUGEPAGE);  // a huge page would make a stack's first touch cost 2 MiB; old kernels may refuse
  if (r->learn()) return r;
  error = errno;
  delete r;
  return nullptr;
}

// Learns from the first page of a fresh region what the kernel does. False: the system refuses.
bool stack_region::learn() noexcept {
  if (::mprotect(first_, page_, PROT_READ | PROT_WRITE) != 0) return false;
  // If the program has locked what it will map (mlockall with MCL_FUTURE), a page that becomes accessible comes into memory; with
  // MCL_ONFAULT it does not, but takes no guard either.
  bool locked = is_resident(first_, page_);
  bool guarded = mark_guard(first_, page_);
  if (!guarded) {
    ::munlock(first_, places_ * size_);
    guarded = mark_guard(first_, page_);
    locked = locked || guarded;
  }
  // An emulator may take the advice and do nothing: so the kernel is asked for the page's content.
  markers_ = guarded && ::madvise(first_, page_, MADV_POPULATE_READ) != 0 && errno == EFAULT;
  if (!markers_) {
    discard(first_, page_);
    if (::mprotect(first_, page_, PROT_NONE) != 0) return false;
  }
  if (locked) lock_as_touched();
  return true;
}

stack_region::~stack_region() {
  ::munmap(from_, static_cast<std::size_t>(to_ - from_));
  unmapped(mappings_);
}

// The program has locked its memory. The region stays locked, but page by page when it is touched: else each place would take memory as a
// whole. Locked memory takes no guards, so all places get theirs while it is unlocked. False: the system has no memory for the guards. Then
// it stays unlocked, and also if the system refuses to lock it again.
bool stack_region::lock_as_touched() const noexcept {
  std::size_t const bytes = places_ * size_;
  ::munlock(first_, bytes);
  if (markers_ && !guard_all()) return false;
  ::syscall(SYS_mlock2, first_, bytes, MLOCK_ONFAULT);
  return true;
}

bool stack_region::guard_all() const noexcept {
  for (std::size_t k = 0; k < places_; ++k) {
    if (!mark_guard(first_ + k * size_, page_)) return false;
  }
  return true;
}

// Makes a place accessible, and some of those behind it, as many as are open already: a call of the kernel takes as long for several. The
// guards come first: if the program has locked the region since, they bring nothing into memory.
bool stack_region::open(std::size_t place) noexcept {
  if (!markers_) return open_with_mappings(place);
  constexpr std::size_t most_at_once = 32;
  constexpr std::size_t most_bytes_at_once = std::size_t{32} << 20;  // a limit on the process's data counts what is open
  std::size_t const most = std::clamp(most_bytes_at_once / size_, std::size_t{1}, most_at_once);
  std::size_t const wanted = std::clamp(opened_.count(), std::size_t{1}, most);
  std::size_t n = 0;
  for (bool guarded = false; n < wanted && place + n < places_ && !opened_[place + n]; ++n) {
    if (guarded || mark_guard(first_ + (place + n) * size_, page_)) continue;
    if (errno != EINVAL || !lock_as_touched()) break;  // EINVAL: the region is locked
    guarded = true;                                    // all places
  }
  auto const opens = [&](std::size_t k) { return ::mprotect(first_ + place * size_, k * size_, PROT_READ | PROT_WRITE) == 0; };
  if (n == 0) return false;
  bool open = opens(n);
  if (!open && n > 1) open = opens(n = 1);  // within a limit of the process there may be room for one
  if (!open) return false;
  while (n-- != 0) opened_[place + n] = true;
  return true;
}

bool stack_region::open_with_mappings(std::size_t place) noexcept {
  constexpr long own = 2;
  errno = ENOMEM;
  if (!may_map(own)) return false;
  if (::mprotect(first_ + place * size_ + page_, size_ - page_, PROT_READ | PROT_WRITE) != 0) {
    unmapped(own);
    return false;
  }
  mappings_ += own;
  opened_[place] = true;
  return true;
}

std::byte* stack_region::take(int& error) noexcept {
  std::size_t& place = lowest_;
  while (taken_[place]) ++place;
  if (!opened_[place] && !open(place)) {
    error = errno;
    return nullptr;
  }
  taken_[place] = true;
  ++used_;
  return first_ + place * size_;
}

void stack_region::put(std::byte* base) noexcept {
  std::size_t const place = static_cast<std::size_t>(base - first_) / size_;
  taken_[place] = false;
  lowest_ = std::min(lowest_, place);
  --used_;
}

bool stack_region::discard(std::byte* from, std::size_t bytes) const noexcept {
  if (discard_pages(from, bytes)) return true;
  if (errno != EINVAL) return false;
  // Locked, on an older kernel, which takes nothing back before it is unlocked.
  if (::munlock(first_, places_ * size_) != 0) return false;
  bool const gone = ::madvise(from, bytes, MADV_DONTNEED) == 0;
  ::syscall(SYS_mlock2, first_, places_ * size_, MLOCK_ONFAULT);
  return gone;
}

bool stack_region::remap(std::byte* from, std::size_t bytes) const noexcept {
  // If the program has locked its memory, a new mapping would come into memory as a whole; and the advice is refused.
  if (::madvise(from, page_, MADV_DONTNEED) != 0) return discard(from, bytes);
  void* const at = ::mmap(from, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (at == MAP_FAILED) return false;
  ::madvise(from, bytes, MADV_NOHUGEPAGE);  // like its neighbours: so it becomes one mapping with them again
  return true;
}

}  // namespace nopal::core
