#pragma once

// Faults on demand: the program that is linked with inject.cpp has its own operator new, malloc, mmap, pthread_create and so on, which pass
// every call on to the real one, count it while armed, and let those fail that a plan names. Calls of libraries count too: hwloc,
// libstdc++, and calls into libc, except libc's calls of itself.
//
//     test::faults::arm({.kinds = of(kind::allocation), .first = 3});     // the third operator new from here on throws
//     ...
//     test::faults::disarm();
//
// Any thread may call anything; only one thread arms and disarms.

#include <array>
#include <atomic>
#include <cstdint>

namespace test::faults {

enum class kind : unsigned {
  allocation,    ///< operator new, in all its forms
  c_allocation,  ///< malloc, calloc, realloc and the aligned ones
  map,           ///< mmap
  protect,       ///< mprotect
  unmap,         ///< munmap
  advise,        ///< madvise
  resident,      ///< mincore
  thread,        ///< pthread_create
  pin,           ///< pthread_setaffinity_np
  signal_stack,  ///< sigaltstack; not under a sanitizer, which needs it itself
  thread_key,    ///< pthread_key_create, pthread_setspecific; the same
  futex_wait,    ///< syscall(SYS_futex, FUTEX_WAIT): EINTR, EAGAIN and ENOSYS in turn
  futex_wake,    ///< the same, FUTEX_WAKE: ENOSYS
  membarrier,    ///< syscall(SYS_membarrier): ENOSYS
  topology,      ///< hwloc_topology_init, _load and _restrict as a whole
};
inline constexpr unsigned kinds = 15;
char const* name(kind k) noexcept;

using kind_set = std::uint32_t;
template <class... K>
constexpr kind_set of(K... k) noexcept {
  return ((kind_set{1} << static_cast<unsigned>(k)) | ... | kind_set{0});
}
inline constexpr kind_set memory = of(kind::allocation, kind::c_allocation, kind::map, kind::protect);
inline constexpr kind_set everything = (kind_set{1} << kinds) - 1;

/// Calls of these kinds are numbered from 1, all together. Those from `first` to `last` fail; besides, one in `one_in` at random.
struct plan {
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  kind_set kinds = 0;
  std::uint64_t first = never;
  std::uint64_t last = 0;    ///< 0: only the first
  std::uint64_t one_in = 0;  ///< 0: none
  std::uint64_t seed = 0;
  std::int64_t milliseconds = 3'600'000;  ///< after that nothing fails any more: memory is available again
};

/// Forgets what was counted before. If armed already: the new plan replaces the old one.
void arm(plan const& p) noexcept;
/// Nothing fails any more, and nothing is counted.
void disarm() noexcept;

class armed {
 public:
  explicit armed(plan const& p) noexcept { arm(p); }
  armed(armed const&) = delete;
  armed& operator=(armed const&) = delete;
  ~armed() { disarm(); }
};

/// While alive, calls of this thread are neither counted nor fail. Not across a call that may leave the native stack.
class spared {
 public:
  spared() noexcept;
  spared(spared const&) = delete;
  spared& operator=(spared const&) = delete;
  ~spared();

 private:
  bool before_;
};

/// Since arm: the number of one kind, and of all that have failed.
std::uint64_t calls(kind k) noexcept;
std::uint64_t failures() noexcept;

/// Blocks of operator new that are not deleted yet, since the program began.
std::int64_t live_blocks() noexcept;
/// Bytes that mmap has mapped and munmap has not unmapped, in all: below 0 if memory of others was unmapped.
std::int64_t mapped_bytes() noexcept;

/// The first call that failed since arm, and its caller.
struct trace {
  std::atomic<int> depth{0};  ///< 0: none has
  kind what{};
  std::uint64_t number = 0;
  std::array<void*, 32> callers{};
};
/// Where it is kept: for a process that is killed, in memory that it shares. Null: nowhere.
void keep_trace_in(trace* t) noexcept;

}  // namespace test::faults
