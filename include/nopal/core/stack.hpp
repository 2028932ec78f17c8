#pragma once

// Native stacks from mmap, with a guard page, and the pool of them. Functions that fork run on these, never on a thread's own
// stack, so that any worker may go on with them. Who owns one: README.md, "Stacks". Next: context.hpp switches between them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "nopal/core/config.hpp"
#include "nopal/core/context.hpp"
#include "nopal/options.hpp"

namespace nopal::core {

/// A mapping of a power of two of bytes, aligned to its size. From the low end: guard page, room, this object, the colour: stacks
/// begin at different cache sets, since their tops, all aligned alike, would otherwise meet in the same ones.
///
///      | guard |  room, grows down        |  stack  | colour |
///    base    low()                      top()                base + size
class stack : public context {
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
  /// Leaves `from` and runs `what` here at once. It may return if returns() still says so.
  void run_from(context& from, void (*what)(context&)) noexcept { call_on(from, *this, low_, top(), what); }
  bool returns() const noexcept { return body != nullptr; }

 private:
  friend class stack_pool;
  friend class stack_cache;
  stack(std::byte* low, std::size_t mapped, std::size_t page) noexcept : low_{low}, mapped_{mapped}, page_{page} {}

  // Here and not in a frame: what AddressSanitizer keeps of a stack's frames ends when that is left for good.
  struct last_words : arrival {
    stack* self;
    void (*free)(stack&) noexcept;
  };
  last_words last_;

  std::byte* low_;
  std::size_t mapped_;
  std::size_t page_;
  stack* next_ = nullptr;  // in a pool
};

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

  /// Gives back what lies unused below `sp` in `s`, which nobody runs, as pool_options::reclaim says.
  void give_back_below(stack& s, void const* sp) noexcept;

  stack_counts counts() const noexcept;

 private:
  stack* map() noexcept;
  void unmap(stack* s) noexcept;
  void give_back(std::byte* from, std::byte* to) noexcept;

  std::size_t const page_;
  std::size_t const size_;
  reclaim const how_;
  std::size_t const keep_;

  std::mutex mutex_;
  stack* free_ = nullptr;
  std::size_t free_count_ = 0;
  std::atomic<std::uint64_t> made_{0};  // draws the colours
  std::atomic<std::uint64_t> live_{0}, peak_{0}, unmaps_{0}, pages_returned_{0};
};

/// A worker's own few stacks: the usual get and put cost neither a lock nor a system call. Owner only.
class stack_cache {
 public:
  explicit stack_cache(stack_pool& pool) noexcept : pool_{pool} {}
  stack_cache(stack_cache const&) = delete;
  stack_cache& operator=(stack_cache const&) = delete;
  ~stack_cache();

  NOPAL_INLINE stack* get() noexcept {
    stack* const s = first_;
    if (s == nullptr) [[unlikely]] return pool_.get();
    first_ = s->next_;
    --count_;
    return s;
  }
  NOPAL_INLINE void put(stack* s) noexcept {
    if (count_ == most) [[unlikely]] return pool_.put(s);
    s->next_ = first_;
    first_ = s;
    ++count_;
  }

  static constexpr unsigned most = 4;

 private:
  stack_pool& pool_;
  stack* first_ = nullptr;
  unsigned count_ = 0;
};

}  // namespace nopal::core
