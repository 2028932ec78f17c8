#pragma once

// A worker's small blocks of memory: fibers that have not started come and go too fast for malloc. Next: ../fiber.hpp.

#include <array>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

#include "nopal/core/compiler/config.hpp"

namespace nopal::core {

/// A free block, whose memory it is: the next of its chain, and in a depot the next chain.
struct block {
  block* next;
  block* next_chain;
};

/// Blocks on their way from the workers that free them to those that ask, by size, in chains.
class central_block_list {
 public:
  static constexpr std::size_t step = 32;
  static constexpr std::size_t largest = 256;
  static constexpr std::size_t sizes = largest / step;
  static constexpr std::size_t chain_length = 256;

  /// The size of the block that a cache gives for `n` bytes: a block from elsewhere must have it too.
  static constexpr std::size_t rounded(std::size_t n) noexcept { return n > largest ? n : (n + step - 1) / step * step; }

  central_block_list() = default;
  central_block_list(central_block_list const&) = delete;
  central_block_list& operator=(central_block_list const&) = delete;
  ~central_block_list() {
    for (block*& chain : chains_)
      while (chain != nullptr) free(std::exchange(chain, chain->next_chain));
  }

  /// Frees a chain.
  static void free(block* b) noexcept {
    while (b != nullptr) ::operator delete(std::exchange(b, b->next));
  }

  /// A chain, or null. A mutex.
  block* get(std::size_t size_class) noexcept {
    std::lock_guard const guard{mutex_};
    block* const b = chains_[size_class];
    if (b != nullptr) chains_[size_class] = b->next_chain;
    return b;
  }
  void put(block* chain, std::size_t size_class) noexcept {
    std::lock_guard const guard{mutex_};
    chain->next_chain = std::exchange(chains_[size_class], chain);
  }

 private:
  std::mutex mutex_;
  std::array<block*, sizes> chains_{};
};

/// Blocks kept by size for the next who asks. Owner only; a block may be put into another one than it came from.
class block_cache {
 public:
  explicit block_cache(central_block_list& depot) noexcept : central_list_{depot} {}
  block_cache(block_cache const&) = delete;
  block_cache& operator=(block_cache const&) = delete;
  ~block_cache() {
    for (list const& l : lists_) {
      central_block_list::free(l.first);
      central_block_list::free(l.full);
    }
  }

  /// Throws std::bad_alloc.
  NOPAL_INLINE void* get(std::size_t size) {
    if (size > central_block_list::largest) [[unlikely]] return ::operator new(size);
    std::size_t const c = (size - 1) / central_block_list::step;
    list& l = lists_[c];
    if (l.first == nullptr) [[unlikely]] return refill(c);
    --l.count;
    return std::exchange(l.first, l.first->next);
  }
  NOPAL_INLINE void put(void* p, std::size_t size) noexcept {
    if (size > central_block_list::largest) [[unlikely]] return ::operator delete(p);
    std::size_t const c = (size - 1) / central_block_list::step;
    list& l = lists_[c];
    auto* const b = ::new (p) block;
    b->next = std::exchange(l.first, b);
    if (++l.count == central_block_list::chain_length) [[unlikely]] pass_on(c);
  }

 private:
  struct list {
    block* first = nullptr;
    std::size_t count = 0;   // in `first`
    block* full = nullptr;  // a whole chain, or nothing
  };

  NOPAL_COLD void* refill(std::size_t c) {
    list& l = lists_[c];
    block* const chain = l.full != nullptr ? std::exchange(l.full, nullptr) : central_list_.get(c);
    if (chain == nullptr) return ::operator new((c + 1) * central_block_list::step);
    l.first = chain->next;
    l.count = central_block_list::chain_length - 1;
    return chain;
  }
  NOPAL_COLD void pass_on(std::size_t c) noexcept {
    list& l = lists_[c];
    if (block* const chain = std::exchange(l.full, std::exchange(l.first, nullptr)); chain != nullptr) central_list_.put(chain, c);
    l.count = 0;
  }

  central_block_list& central_list_;
  std::array<list, central_block_list::sizes> lists_{};
};

}  // namespace nopal::core
