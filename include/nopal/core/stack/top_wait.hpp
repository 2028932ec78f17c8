#pragma once

// A wait on top of a stack: the stack stays, and its thread does not leave it, or leaves it late. Two sides touch it: the waiter, and the
// waker, which makes the event happen. Next: home.hpp, what the waiter runs until then. Proof: stays.md.

#include <cstdint>

#include "nopal/core/base/sync.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;
class stack;

/// The word between the two sides. It is in the waiting frame.
template <class Sync = std_sync>
class basic_top_wait {
 public:
  /// By the waker, once; afterwards this may be gone. True: the stack has been left, and the caller owns it. acq_rel and more: release, for
  /// what the waiter waited for; acquire: pairs with leave. seq_cst: before the read of the waiter's state in parking.call.
  bool happens() noexcept { return word_.exchange(happened_, std::memory_order_seq_cst) == left_; }
  /// By the waiter. seq_cst, of which acquire pairs with happens: after the store of its state in parking.doze.
  bool has_happened() const noexcept { return word_.load(std::memory_order_seq_cst) == happened_; }
  /// By the waiter, which has left its stack. False: the event has happened, and the waker does not know that the stack was left. release:
  /// pairs with happens, for the stack. acquire, where it fails: pairs with happens, as has_happened.
  bool leave() noexcept {
    std::uint32_t w = waits_;
    return word_.compare_exchange_strong(w, left_, std::memory_order_release, std::memory_order_acquire);
  }

 private:
  static constexpr std::uint32_t waits_ = 0, left_ = 1, happened_ = 2;
  typename Sync::template atomic<std::uint32_t> word_{waits_};
};

/// The one that ships.
class top_wait : public basic_top_wait<> {
 public:
  /// On the stack that runs on worker `i`. `j`: the join word or the job that is waited for; null: something else.
  top_wait(stack& s, pool_state& p, unsigned i, void const* j) noexcept : join{j}, stack_{s}, pool_{p}, worker_{i} {}

  /// The event has happened: tells the waiter's thread, or sends its stack home. Once, by any thread; afterwards this may be gone.
  void resume() noexcept;

  void const* const join;
  // While the stack is left; by its thread.
  top_wait* older = nullptr;   ///< in the list search_state::left
  bool runs_anything = false;  ///< all other workers waited like this

 private:
  stack& stack_;
  pool_state& pool_;
  unsigned const worker_;
};

}  // namespace nopal::core
