#pragma once

// Native stacks from mmap, with a guard page, and the pool of them. Functions that fork run on these, never on a thread's own
// stack, so that any worker may go on with them. Who owns one: README.md, "Stacks". Next: context.hpp switches between them.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "nopal/core/config.hpp"
#include "nopal/core/context.hpp"
#include "nopal/core/continuation.hpp"
#include "nopal/core/inbox.hpp"
#include "nopal/options.hpp"

namespace nopal::core {

struct child;

/// What a report says of a stack that waits.
struct waits_for {
  char const* what;
  void const* object;
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
    last_.run = [](arrival& a) noexcept { static_cast<last_words&>(a).free(*static_cast<last_words&>(a).self); };
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
  /// What it waits for, while it waits: for reports, which may be a moment late. Relaxed, they order nothing.
  std::atomic<char const*> waits_what{nullptr};
  std::atomic<void const*> waits_object{nullptr};

  bool stolen = false;      ///< left at a fork, and taken by another worker: written by whoever takes it

 private:
  friend class stack_pool;
  friend class stack_cache;

  static constexpr std::uint64_t standing = 0x6e6f70616c6d6172;
  std::uint64_t volatile* mark() const noexcept { return reinterpret_cast<std::uint64_t volatile*>(marked_page()); }

  stack(std::byte* low, std::size_t mapped, std::size_t page) noexcept
      : low_{low}, mapped_{mapped}, page_{page}, fork_limit_{reinterpret_cast<std::uintptr_t>(low) + (reserve < mapped / 4 ? reserve : mapped / 4)} {}

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
class stack_pool {
 public:
  stack_pool(std::size_t stack_size, reclaim how, std::size_t keep);
  stack_pool(stack_pool const&) = delete;
  stack_pool& operator=(stack_pool const&) = delete;
  /// All stacks must have come back.
  ~stack_pool();

  /// Of each, rounded up to a power of two, in bytes.
  std::size_t stack_size() const noexcept { return size_; }
  /// Null where there is no memory or address space for one more. A mutex, and an mmap if none is free.
  stack* get() noexcept;
  void put(stack* s) noexcept;

  /// Gives back what lies unused below `sp` in `s`, which nobody runs, as pool_options::reclaim says. Nothing where `sp` lies elsewhere: how
  /// much of `s` is in use is unknown then.
  void give_back_below(stack& s, void const* sp) noexcept;
  /// Gives back all of `s`, of which nothing is in use. Costs nothing while its high-water mark stands.
  void give_back(stack& s) noexcept;

  stack_counts counts() const noexcept;
  /// Pages of memory that all mapped stacks hold now, apart from what their owners change meanwhile. An mincore for every 2 MiB.
  std::uint64_t resident_pages() const noexcept;
  /// Calls f(stack, what it waits for) for each that waits, a moment ago. No stack comes or goes meanwhile.
  template <class F>
  void for_each_waiting(F f) const {
    std::lock_guard const guard{mutex_};
    for (stack const* s = all_; s != nullptr; s = s->older_) {
      waits_for const w{s->waits_what.load(std::memory_order_relaxed), s->waits_object.load(std::memory_order_relaxed)};
      if (w.what != nullptr) f(*s, w);
    }
  }

 private:
  stack* map() noexcept;
  void unmap(stack* s) noexcept;
  void give_back_between(std::byte* from, std::byte* to) noexcept;

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
  std::atomic<std::uint64_t> unmaps_{0}, pages_returned_{0};
};

/// A worker's own few stacks: the usual get and put cost neither a lock nor a system call. Owner only.
class stack_cache {
 public:
  explicit stack_cache(stack_pool& pool) noexcept : pool_{pool} {}
  stack_cache(stack_cache const&) = delete;
  stack_cache& operator=(stack_cache const&) = delete;
  ~stack_cache();

  bool empty() const noexcept { return count_ == 0; }
  NOPAL_INLINE stack* get() noexcept {
    if (empty()) [[unlikely]] return pool_.get();
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
  std::size_t count_ = 0;
  std::array<stack*, most> kept_;
};

}  // namespace nopal::core
