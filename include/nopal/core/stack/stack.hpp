#pragma once

// Native stacks from mmap, with a guard page, and the pool of them. Functions that fork run on these, never on a thread's own
// stack, so that any worker may go on with them. Who owns one: README.md, "Stacks". Next: context.hpp switches between them.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/stack/context.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/sleep/inbox.hpp"
#include "nopal/options.hpp"

namespace nopal::core {

struct child;

/// What a report can say of an object that is waited for, beyond its address.
enum class wait_kind : unsigned char { nothing_more, mutex, counter };

/// What a report says of a stack that waits.
struct waits_for {
  char const* what;
  void const* object;
  wait_kind kind = wait_kind::nothing_more;
  std::int64_t target = 0;  ///< of a counter
  std::int64_t limit = no_limit;  ///< by the steady clock, in nanoseconds
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
};

/// A name that a program has given to what runs on a stack: ../named.hpp. Reports read it while that stack may run.
struct stack_name {
  static constexpr std::size_t most = 31;
  char text[most + 1];
  stack_name const* outer;
};

/// A mapping of a power of two of bytes, aligned to its size. From the low end: guard page, room, this object, the colour: stacks
/// begin at different cache sets, since their tops, all aligned alike, would otherwise meet in the same ones.
///
///      | guard |  room, grows down        |  stack  | colour |
///    base    low()                      top()                base + size
class stack : public context, public job {  // as a job: left at a fork, and anyone's to go on with
 public:
  stack(stack const&) = delete;
  stack& operator=(stack const&) = delete;

  std::byte* low() const noexcept { return low_; }
  std::byte* top() noexcept { return reinterpret_cast<std::byte*>(this); }
  /// The whole mapping, as pool_options::stack_size asked, in bytes.
  std::size_t mapped() const noexcept { return mapped_; }
  /// Does an access to `address` mean that this stack has overflowed?
  bool guards(void const* address) const noexcept {
    auto const a = static_cast<std::byte const*>(address);
    return a >= base() && a < low_;
  }
  std::byte* base() const noexcept { return low_ - page_; }
  /// Does the address lie in this mapping? A running function's stack pointer does not while it works on a stack that the program made
  /// itself and switched to: the native stack that runs here is still this one. README.md, "Foreign stacks".
  bool holds(std::uintptr_t address) const noexcept { return address - reinterpret_cast<std::uintptr_t>(base()) < mapped_; }
  /// The lowest address that forks may reach: what lies below, `reserve` bytes at most, is for the ordinary functions that tasks call.
  std::uintptr_t fork_limit() const noexcept { return fork_limit_; }
  static constexpr std::size_t reserve = std::size_t{64} << 10;

  /// Leaves it for good: nobody goes on with it, and whoever is at `to` then gets it by `free`.
  void leave(context& to, void (*free)(stack&) noexcept) noexcept {
    last_.self = this;
    last_.free = free;
    last_.run = [](arrival& a) noexcept {
      stack& left = *static_cast<last_words&>(a).self;
#if NOPAL_ASAN
      left.forget_frames();
#endif
      static_cast<last_words&>(a).free(left);
    };
    switch_to(*this, to, &last_, leaving::for_good);
  }

  /// Makes it a fresh context that runs `body`, on memory of unknown content.
  void begin(void (*what)(context&)) noexcept {
    body = nullptr;
    prepare(*this, low_, top(), what);
  }
  /// Leaves `from` and runs `what` here at once. It may return if returns() still says so: true, and this is the caller's again.
  NOPAL_INLINE bool run_from(context& from, void (*what)(context&)) noexcept { return call_on(from, *this, low_, top(), what); }
  bool returns() const noexcept { return body != nullptr; }

  /// The high-water mark: a word in the second page from the top, below what the search for work needs. While it stands, nothing has gone
  /// far beyond it since it was set, so that there is nothing to give back. (A frame may skip it, with an array that it does not use: then what
  /// was touched below stays until some other frame has reached the mark.)
  void set_mark() noexcept {
    if (!NOPAL_ASAN) *mark() = standing;  // which would take it for a use of a frame that has ended
  }
  bool mark_stands() const noexcept { return !NOPAL_ASAN && *mark() == standing; }
  std::byte* marked_page() const noexcept { return base() + mapped_ - 2 * page_; }

  // What a fork that could not be fast left for this stack.
  child* to_run = nullptr;
  void (*starter)(child&, bool) = nullptr;
  // For reports, which look on while this stack may go on at any moment. What lies on it, and what it waits for, is at rest if it waits before
  // and after the look, for the same time.
  /// In the frame that waits, from when the stack is saved until it is resumed; else null.
  std::atomic<waits_for const*> waits{nullptr};
  /// How often it has waited.
  std::atomic<std::uint64_t> wait_number{0};
  /// The innermost name of what runs on it; or null.
  std::atomic<stack_name const*> name{nullptr};

  /// Whoever has just left it: from now on it waits. release: pairs with the looks of reports, as begins_to_run.
  void begins_to_wait(waits_for const& why) noexcept {
    wait_number.store(wait_number.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    waits.store(&why, std::memory_order_release);
  }
  /// Whoever resumes it, before it runs. The fence keeps all that it does from then on behind.
  void begins_to_run() noexcept {
    waits.store(nullptr, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }

  unsigned maker = 0;       ///< the worker that has mapped it
  bool stolen = false;      ///< left at a fork, and taken by another worker: written by whoever takes it

 private:
  friend class stack_pool;
  friend class stack_cache;

  static constexpr std::uint64_t standing = 0x6e6f70616c6d6172;
  std::uint64_t volatile* mark() const noexcept { return reinterpret_cast<std::uint64_t volatile*>(marked_page()); }

  stack(std::byte* low, std::size_t mapped, std::size_t page) noexcept
      : low_{low}, mapped_{mapped}, page_{page}, fork_limit_{reinterpret_cast<std::uintptr_t>(low) + (reserve < mapped / 4 ? reserve : mapped / 4)} {}

#if NOPAL_ASAN
  /// The frames that it was left in will never end: AddressSanitizer must not take what it remembers of them for later ones'.
  void forget_frames() noexcept;
#endif

  // Here and not in a frame: what AddressSanitizer keeps of a stack's frames ends when that is left for good.
  struct last_words : arrival {
    stack* self;
    void (*free)(stack&) noexcept;
  };
  last_words last_;

  std::byte* low_;
  std::size_t mapped_;
  std::size_t page_;
  std::uintptr_t fork_limit_;
  stack* next_ = nullptr;  // in a pool's list of free ones
  stack* older_ = nullptr;
  stack* newer_ = nullptr;
};

inline continuation::continuation(stack* s) noexcept
    : word_{reinterpret_cast<std::uintptr_t>(s) | static_cast<std::uintptr_t>(continuation_kind::stack)} {}
inline stack* continuation::as_stack() const noexcept { return reinterpret_cast<stack*>(word_ & ~std::uintptr_t{3}); }  // NOLINT(performance-no-int-to-ptr)

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
  /// `makers`: who map stacks, numbered from 0.
  stack_pool(std::size_t stack_size, reclaim how, std::size_t keep, unsigned makers = 1);
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
