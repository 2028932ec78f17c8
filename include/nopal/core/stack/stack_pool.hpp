#pragma once

// How many mappings the process may have. The kernel allows vm.max_map_count; once they are used up, malloc, new threads and dlopen fail
// too. So native stacks leave some of them to the program. Any thread may call; there is one count for all pools. Below: the regions, which
// ask; and the pool of stacks, which says why there is no stack.

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/options.hpp"

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

/// The thread that forks holds the lock during the fork: scheduler/scheduler.cpp.
void hold_mapping_count() noexcept;
void release_mapping_count() noexcept;

/// The number with which the file at `path` begins, after `skip` other numbers; -1 if there is none.
long read_number(char const* path, int skip = 0) noexcept;

// A region: one mapping that is cut into native stacks of one size, its places. The kernel allows a process some 65,530 mappings, and a
// stack with a guard page of its own would take two of them. A region takes two in all, if the kernel knows guard pages that need no
// mapping (MADV_GUARD_INSTALL, Linux 6.13). All members are called under the mutex of the stack_pool that has the region, unless they say
// otherwise. Next: stack_pool, which makes regions.

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

// The native stacks of one pool, and the few that each worker keeps at hand. Which pages go back to the system, and when: README.md,
// "Space". Called by the scheduler, suspension.hpp and scope_child.hpp. Next: suspension.hpp, where a worker that leaves its stack takes
// another.

/// What native stacks have cost so far.
struct stack_counts {
  std::uint64_t live;            ///< that exist now
  std::uint64_t peak;            ///< the most at any time
  std::uint64_t unmaps;          ///< times that pages of a stack went back to the system; no mapping ends by that
  std::uint64_t purges;          ///< unmaps of a free stack
  std::uint64_t pages_returned;  ///< pages that the unmaps gave back, as far as the kernel says
};

/// All stacks of one pool. It keeps at most `keep` free ones, with the pages of all but their topmost given back. Other free stacks end:
/// their place holds no memory then, and a region without stacks is unmapped.
class NOPAL_API stack_pool {
 public:
  /// `stack_size`: bytes of each. `makers`: how many workers make stacks; they are numbered from 0. `when_left`: what resumes a stack that
  /// was left at a fork of a scope. `kept_at_join`: experimental_options::pages_kept_at_join. Throws std::bad_alloc.
  stack_pool(std::size_t stack_size, reclaim how, std::size_t keep, unsigned makers = 1, resumable::run_function when_left = nullptr,
             std::size_t kept_at_join = tuning::pages_kept_at_join);
  /// From now on calls check(with) when there are many more stacks than at the last call; check returns how many more may be made until the
  /// next. And calls note(with) where more stacks are free than an idle pool keeps. Before any other thread knows the pool.
  void use_check(std::uint64_t (*check)(void* with) noexcept, void (*note)(void* with) noexcept, void* with, std::uint64_t first) noexcept {
    check_ = check;
    note_ = note;
    with_ = with;
    check_at_.store(first, std::memory_order_relaxed);  // relaxed: no other thread knows it
  }
  stack_pool(stack_pool const&) = delete;
  stack_pool& operator=(stack_pool const&) = delete;
  /// Ends the program with a message if a stack is still in use.
  ~stack_pool();

  /// The bytes of each stack: a power of two.
  std::size_t stack_size() const noexcept { return size_; }
  /// A free stack, which is the caller's then. Null: there is no memory, address space or mapping for one more; the first time, prints that
  /// on stderr. Any thread. Takes a mutex; makes one, in the name of `maker`, if none is free.
  stack* get(unsigned maker = 0) noexcept;
  /// As get, and prints nothing.
  stack* try_get(unsigned maker) noexcept;
  /// Takes up to `n` free stacks into `to`, the newest last, but only its share of them, one at least; makes none. Returns how many: they are
  /// the caller's then. Any thread. Takes a mutex.
  std::size_t get_free(stack** to, std::size_t n) noexcept;
  /// The `n` stacks from `all`, the newest last, are free. By their owner, any thread. Gives their pages back to the system, as give_back
  /// does, or ends those that are too many. Takes a mutex.
  void put(stack* const* all, std::size_t n) noexcept;
  void put(stack* s) noexcept { put(&s, 1); }

  /// Gives back the unused pages below `sp` in `s`, as experimental_options::reclaim says. By the owner of `s`, which no thread runs. Does
  /// nothing if `sp` is in another mapping: then it is unknown how much of `s` is in use. One or two system calls.
  void give_back_below(stack& s, void const* sp) noexcept;
  /// Gives back all pages of `s` but its `kept` topmost, two at least. Nothing on `s` is in use. By its owner. No system call while its
  /// high-water mark stands, unless it is known to hold more.
  void give_back(stack& s, std::size_t kept = 2) noexcept;
  /// As give_back, but for the tuning::pages_kept_by_newest topmost. No system call, 15 times of 16, where no frame has reached beyond these
  /// since the last call.
  void give_back_some(stack& s) noexcept;

  /// Number of stacks, a moment ago. Any thread. relaxed: nothing depends on it.
  std::uint64_t live() const noexcept { return live_.load(std::memory_order_relaxed); }
  /// Free stacks, a moment ago. Any thread. relaxed: a hint.
  std::size_t spare() const noexcept { return free_count_.load(std::memory_order_relaxed); }
  /// True if fewer are free than there are workers, and than are kept while nothing needs them, a moment ago. Any thread.
  bool is_short() const noexcept { return spare() < std::min(tallies_.size(), tuning::stacks_kept_idle); }
  /// Ends the free stacks that no worker has needed since the last call, but for `n`. By the pool's timer. O(free stacks).
  void trim(std::size_t n) noexcept;
  /// True if `s` holds more than a few pages below its high-water mark. By its owner. One system call, and none while the mark stands. If
  /// it returns false the mark stands afterwards, provided that `s` does not run, or runs only above the mark.
  bool holds_many_pages(stack& s, std::uintptr_t sp) const noexcept;

  /// The counts of all stacks. Any thread.
  stack_counts counts() const noexcept;
  /// The counts of the stacks that `maker` has made. Any thread.
  stack_counts counts(unsigned maker) const noexcept;
  /// Pages of memory that all stacks hold now; their owners may change that at the same time. Any thread. One mincore for every 512 pages of
  /// a stack, from its top, until 512 hold none.
  std::uint64_t resident_pages() const noexcept;
  /// Pages of memory that the stacks of each maker hold now. Any thread. Throws std::bad_alloc.
  std::vector<std::uint64_t> resident_pages_by_maker() const;
  /// The most that all stacks have held, by their own marks: each stack whose pages went back, as deep as it was used before that, plus the
  /// deepest once more for each of `running`, less the two pages counted already. 0 if no pages go back. Any thread.
  std::uint64_t most_pages_held(unsigned running) const noexcept;
  /// Calls f(stack) for each stack, under the mutex: no stack begins or ends in between, but any may run.
  template <class F>
  void for_each(F f) const {
    std::lock_guard const guard{mutex_};
    for (stack const* s = all_; s != nullptr; s = s->older_) f(*s);
  }

  /// The stack whose guard page holds `address`; null: none, or another thread is making or ending a stack. In a signal handler. O(stacks).
  stack const* guarded_at(void const* address) const noexcept;

 private:
  friend struct debug_layout;

  stack* make(unsigned maker) noexcept;
  void end(stack* s) noexcept;
  void set_free(std::size_t n) noexcept;
  std::byte* take_place(stack_region*& in) noexcept;
  stack_region* add_region() noexcept;
  void link(stack_region& r) noexcept;
  void unlink(stack_region& r) noexcept;
  /// Unused pages of a stack that were in memory: those that have gone, and those above them that stay.
  struct looked_at {
    std::uint64_t gone, kept;
  };
  std::byte* topmost(stack const& s, std::size_t n) const noexcept;
  std::optional<looked_at> give_back_between(stack& s, std::byte* kept_from, std::byte* unused) noexcept;
  void learn_use(stack& s, std::uint64_t before, std::uint64_t after) noexcept;
  template <class F>
  void count_resident(F f) const noexcept;

  /// The counts of one maker's stacks.
  struct tally {
    std::uint64_t live = 0, peak = 0;                                    // under the mutex
    std::atomic<std::uint64_t> unmaps{0}, purges{0}, pages_returned{0};  // relaxed: they order nothing
  };

  std::size_t const page_;
  std::size_t const size_;
  reclaim const how_;
  std::size_t const keep_;
  std::size_t const kept_at_join_;  // bytes
  resumable::run_function const when_left_;
  std::uint64_t (*check_)(void*) noexcept = nullptr;
  void (*note_)(void*) noexcept = nullptr;
  void* with_ = nullptr;
  std::atomic<std::uint64_t> check_at_{~std::uint64_t{0}};  // stacks; relaxed: several may check at once

  mutable own_mutex mutex_;
  stack* all_ = nullptr;  // linked by older_ and newer_
  stack* free_ = nullptr;
  std::atomic<std::size_t> free_count_{0};  // written under the mutex
  std::size_t least_free_ = 0;              // the fewest since the last trim
  stack_region* roomy_ = nullptr;           // the regions that are not full
  std::size_t places_ = 0;                  // of all regions
  std::atomic<std::uint64_t> live_{0};      // written under the mutex
  std::uint64_t peak_ = 0;
  std::uint64_t made_ = 0;      // draws the colours
  int error_ = 0;               // why the system refused a stack
  std::vector<tally> tallies_;  // by maker
  // Pages: what the stacks hold by what is known of each, the most of that, and the most of one stack. relaxed: they order nothing.
  std::atomic<std::uint64_t> held_{0}, most_held_{0}, deepest_{0};
  std::atomic<bool> said_refusal_{false};  // relaxed: which thread finds it false is all that matters
};

/// The free stacks that one worker keeps: a usual get or put costs neither a lock nor a system call. By the worker.
class stack_cache {
 public:
  explicit stack_cache(stack_pool& pool, unsigned maker = 0) noexcept : pool_{pool}, maker_{maker} {}
  stack_cache(stack_cache const&) = delete;
  stack_cache& operator=(stack_cache const&) = delete;
  ~stack_cache();

  bool empty() const noexcept { return count_ == 0; }
  /// A free stack, or null as stack_pool::get.
  NOPAL_INLINE stack* get() noexcept {
    if (empty()) [[unlikely]]
      return get_from_pool();
    return kept_[--count_];
  }
  /// `s` is free. Its pages stay.
  NOPAL_INLINE void put(stack* s) noexcept {
    if (count_ == most) [[unlikely]]
      put_oldest(most / 2);
    kept_[count_++] = s;
  }
  /// `s`, which a worker has left for another one, is free. It keeps some pages until the next such stack is put: it is the first to be
  /// taken, and siblings in a row use as much of it.
  NOPAL_API NOPAL_COLD void put_left(stack& s) noexcept;

  /// The most stacks that one worker keeps: each of the nested forks of scopes takes and puts one. An array, since a list would make each
  /// fork wait for the one before. Where they are too many or too few, half as many go to the pool, or come from there, at once.
  static constexpr std::size_t most = 256;
  /// Gives all but `n` stacks to the pool, before the worker sleeps.
  void trim(std::size_t n) noexcept;
  /// Gives half of its stacks, but never the last, to the pool if that is short of free ones: else the next worker that needs one would make
  /// it. By a worker that has nothing else to do.
  void share() noexcept {
    std::uint64_t const live = pool_.live();
    bool const grows = live > std::exchange(live_, live);
    if (count_ > 1 && (grows || pool_.is_short())) [[unlikely]]
      put_oldest(count_ / 2);
  }
  /// Gives back the pages of its stacks, but for the two topmost of each.
  void give_back() noexcept;
  /// The stack that was put last; or null.
  stack* newest() const noexcept { return empty() ? nullptr : kept_[count_ - 1]; }

 private:
  NOPAL_API NOPAL_COLD void put_oldest(std::size_t n) noexcept;
  NOPAL_API NOPAL_COLD stack* get_from_pool() noexcept;

  stack_pool& pool_;
  unsigned const maker_;
  std::size_t count_ = 0;
  std::uint64_t live_ = 0;  // stacks of the pool, when this cache last looked whether to share
  stack* warm_ = nullptr;   // that was put last by put_left, if it keeps more than two pages; it may be in use again, or gone
  std::array<stack*, most> kept_;
};

// What a pool prints, once, when there is no native stack to get: how many there are, which limit was met, and what to raise. Called by
// stack_pool::get. What then waits with its thread: README.md, "Without memory".

/// Prints that line on stderr. `stacks`: how many the pool has, of `size` bytes each. `error`: why the system refused one more; ENOMEM too
/// if stack_region refused it. Any thread.
NOPAL_COLD void print_refusal(std::uint64_t stacks, std::size_t size, int error) noexcept;

/// The thread that forks holds the lock during the fork: scheduler/scheduler.cpp.
void hold_refusal() noexcept;
void release_refusal() noexcept;

}  // namespace nopal::core
