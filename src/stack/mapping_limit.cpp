#include "nopal/core/stack/mapping_limit.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <mutex>

#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"

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

}  // namespace nopal::core
