#pragma once

// Small blocks of memory, for fibers that have not started; malloc is too slow for these. Each worker has a cache, which only the worker
// uses; chains of blocks pass between the caches by a central free list. Next: fiber_record.hpp, which is stored in them.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A free block. It is stored in the memory of the block itself.
struct block {
  block* next;        ///< in its chain
  block* next_chain;  ///< in the central free list; undefined elsewhere
};

/// The central free list: chains of blocks, by size, on their way from the workers that free them to those that need them. Any thread.
class central_block_list {
 public:
  static constexpr std::size_t step = 32;
  static constexpr std::size_t largest = 256;
  static constexpr std::size_t sizes = largest / step;
  static constexpr std::size_t chain_length = 256;

  /// The bytes of the block that a cache gives for `n` bytes. A block that was allocated elsewhere must have as many before it is put into
  /// a cache.
  static constexpr std::size_t rounded(std::size_t n) noexcept { return n > largest ? n : (n + step - 1) / step * step; }

  central_block_list() = default;
  central_block_list(central_block_list const&) = delete;
  central_block_list& operator=(central_block_list const&) = delete;
  ~central_block_list() {
    for (block*& chain : chains_)
      while (chain != nullptr) free(std::exchange(chain, chain->next_chain));
  }

  /// Frees the memory of a chain. O(n).
  static void free(block* b) noexcept {
    while (b != nullptr) ::operator delete(std::exchange(b, b->next));
  }

  /// Takes a chain, or null if there is none. Locks a mutex.
  block* get(std::size_t size_class) noexcept {
    std::lock_guard const guard{mutex_};
    block* const b = chains_[size_class];
    if (b == nullptr) return nullptr;
    chains_[size_class] = b->next_chain;
    ++taken_;
    count_.store(spare() - 1, std::memory_order_relaxed);  // relaxed: it orders nothing
    return b;
  }
  /// Chains in the list, a moment ago. Any thread. relaxed: a hint.
  std::size_t spare() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// Frees all chains if none was taken since the last call. False: one was. By the pool's timer.
  bool trim() noexcept;

  /// Adds a chain. Locks a mutex.
  void put(block* chain, std::size_t size_class) noexcept {
    std::lock_guard const guard{mutex_};
    chain->next_chain = std::exchange(chains_[size_class], chain);
    count_.store(spare() + 1, std::memory_order_relaxed);  // relaxed: it orders nothing
  }

 private:
  own_mutex mutex_;
  std::array<block*, sizes> chains_{};
  std::atomic<std::size_t> count_{0};           // of all chains; written under the mutex
  std::uint64_t taken_ = 0, taken_before_ = 0;  // chains taken: in all, and by the last trim
  std::size_t freed_ = 0;                       // chains since the last request to the C library to give memory back; the timer's
};

/// A worker's free blocks, by size: one chain that it takes from and adds to, and one whole chain, so that a worker that gets and puts in
/// turn does not use the central list each time. Owner only. A block may be put into another cache than it was taken from.
class block_cache {
 public:
  explicit block_cache(central_block_list& central_list) noexcept : central_list_{central_list} {}
  block_cache(block_cache const&) = delete;
  block_cache& operator=(block_cache const&) = delete;
  ~block_cache() {
    for (list const& l : lists_) {
      central_block_list::free(l.first);
      central_block_list::free(l.full);
    }
  }

  /// A block of at least `size` bytes. A few instructions, and a mutex or malloc at most once in chain_length times. Throws std::bad_alloc.
  NOPAL_INLINE void* get(std::size_t size) {
    if (size > central_block_list::largest) [[unlikely]]
      return ::operator new(size);
    std::size_t const c = (size - 1) / central_block_list::step;
    list& l = lists_[c];
    if (l.first == nullptr) [[unlikely]]
      return refill(c);
    --l.count;
    return std::exchange(l.first, l.first->next);
  }
  /// Frees a block that was got for `size` bytes.
  NOPAL_INLINE void put(void* p, std::size_t size) noexcept {
    if (size > central_block_list::largest) [[unlikely]]
      return ::operator delete(p);
    std::size_t const c = (size - 1) / central_block_list::step;
    list& l = lists_[c];
    auto* const b = ::new (p) block;
    b->next = std::exchange(l.first, b);
    if (++l.count == central_block_list::chain_length) [[unlikely]]
      pass_on(c);
  }

 private:
  struct list {
    block* first = nullptr;  // a chain
    std::size_t count = 0;   // the blocks of that chain
    block* full = nullptr;   // a whole chain, or null
  };

  // The chain is used up: takes the whole one, or one from the central list, or else one block from the system.
  NOPAL_COLD void* refill(std::size_t c) {
    list& l = lists_[c];
    block* const chain = l.full != nullptr ? std::exchange(l.full, nullptr) : central_list_.get(c);
    if (chain == nullptr) return ::operator new((c + 1) * central_block_list::step);
    l.first = chain->next;
    l.count = central_block_list::chain_length - 1;
    return chain;
  }
  // The chain is whole: keeps it, and puts the whole one before it into the central list.
  NOPAL_COLD void pass_on(std::size_t c) noexcept {
    list& l = lists_[c];
    if (block* const chain = std::exchange(l.full, std::exchange(l.first, nullptr)); chain != nullptr) central_list_.put(chain, c);
    l.count = 0;
  }

  central_block_list& central_list_;
  std::array<list, central_block_list::sizes> lists_{};
};

}  // namespace nopal::core
