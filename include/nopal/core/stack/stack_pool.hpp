#pragma once

// The native stacks of one pool, and each worker's few at hand. What goes back to the system, and when: README.md, "Space". Next:
// suspension.hpp, which takes one for whoever leaves his.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/options.hpp"

namespace nopal::core {

/// What native stacks have cost so far. Any thread.
struct stack_counts {
  std::uint64_t live;            ///< mapped now
  std::uint64_t peak;            ///< the most at any time
  std::uint64_t unmaps;          ///< times that pages were given back
  std::uint64_t pages_returned;  ///< how many
};

/// All stacks of a scheduler. At most `keep` unused ones stay mapped in it, their pages given back: the rest is unmapped.
class NOPAL_API stack_pool {
 public:
  /// `makers`: who map stacks, numbered from 0. `when_left`: what runs one that was left at a fork.
  stack_pool(std::size_t stack_size, reclaim how, std::size_t keep, unsigned makers = 1, resumable::run_function when_left = nullptr);
  stack_pool(stack_pool const&) = delete;
  stack_pool& operator=(stack_pool const&) = delete;
  /// All stacks must have come back.
  ~stack_pool();

  /// Of each, rounded up to a power of two, in bytes.
  std::size_t stack_size() const noexcept { return size_; }
  /// Null where there is no memory or address space for one more. A mutex, and an mmap by `maker` if none is free.
  stack* get(unsigned maker = 0) noexcept;
  void put(stack* s) noexcept;

  /// Gives back what lies unused below `sp` in `s`, which nobody runs, as pool_options::reclaim says. Nothing where `sp` lies elsewhere: how
  /// much of `s` is in use is unknown then.
  void give_back_below(stack& s, void const* sp) noexcept;
  /// Gives back all of `s`, of which nothing is in use. Costs nothing while its high-water mark stands.
  void give_back(stack& s) noexcept;

  stack_counts counts() const noexcept;
  /// Of the stacks that one has mapped.
  stack_counts counts(unsigned maker) const noexcept;
  /// Pages of memory that all mapped stacks hold now, apart from what their owners change meanwhile. An mincore for every 2 MiB.
  std::uint64_t resident_pages() const noexcept;
  /// Those of each maker. Throws std::bad_alloc.
  std::vector<std::uint64_t> resident_pages_by_maker() const;
  /// Calls f(stack) for each. No stack comes or goes meanwhile.
  template <class F>
  void for_each(F f) const {
    std::lock_guard const guard{mutex_};
    for (stack const* s = all_; s != nullptr; s = s->older_) f(*s);
  }

 private:
  stack* map(unsigned maker) noexcept;
  void unmap(stack* s) noexcept;
  void give_back_between(stack const& s, std::byte* from, std::byte* to) noexcept;
  template <class F>
  void count_resident(F f) const noexcept;

  /// Of one maker's stacks: the first two under the mutex.
  struct tally {
    std::uint64_t live = 0, peak = 0;
    std::atomic<std::uint64_t> unmaps{0}, pages_returned{0};
  };

  std::size_t const page_;
  std::size_t const size_;
  reclaim const how_;
  std::size_t const keep_;
  resumable::run_function const when_left_;

  mutable std::mutex mutex_;
  stack* all_ = nullptr;  // linked by older_ and newer_
  stack* free_ = nullptr;
  std::size_t free_count_ = 0;
  std::uint64_t live_ = 0, peak_ = 0;
  std::atomic<std::uint64_t> made_{0};  // draws the colours
  std::vector<tally> tallies_;          // by maker
};

/// A worker's own few stacks: the usual get and put cost neither a lock nor a system call. Owner only.
class stack_cache {
 public:
  explicit stack_cache(stack_pool& pool, unsigned maker = 0) noexcept : pool_{pool}, maker_{maker} {}
  stack_cache(stack_cache const&) = delete;
  stack_cache& operator=(stack_cache const&) = delete;
  ~stack_cache();

  bool empty() const noexcept { return count_ == 0; }
  NOPAL_INLINE stack* get() noexcept {
    if (empty()) [[unlikely]] return pool_.get(maker_);
    return kept_[--count_];
  }
  NOPAL_INLINE void put(stack* s) noexcept {
    if (count_ == most) [[unlikely]] return pool_.put(s);
    kept_[count_++] = s;
  }

  /// Nested forks of scopes take and put one each. An array, where a list would make each fork wait for the one before.
  static constexpr std::size_t most = 256;
  /// Leaves at most `n`: before the worker sleeps.
  void trim(std::size_t n) noexcept;

 private:
  stack_pool& pool_;
  unsigned const maker_;
  std::size_t count_ = 0;
  std::array<stack*, most> kept_;
};

}  // namespace nopal::core
