#pragma once

// What the engine knows of a pool's source: whether it sleeps until somebody waits, and what is to be told by it. Next: source.hpp.

#include <atomic>

#include "nopal/core/compiler/config.hpp"
#include "nopal/event_source.hpp"
#include "waiting.hpp"

namespace nopal::inline NOPAL_ABI::mpi {

class looker : public event_source {
 public:
  explicit looker(engine const& e) noexcept : of_{e} {}

  /// seq_cst: ../README.md, "Why no request is lost".
  bool sleeps_deeply() const noexcept { return deep_.load(std::memory_order_seq_cst); }
  /// Puts what has ended into the mail, and wakes the source. Any thread, while the source is in the engine's list.
  void bring(command& c) noexcept {
    c.next = mail_.load(std::memory_order_relaxed);  // relaxed, here and where the exchange fails: the pointer is stored, not followed
    // release: pairs with the exchange in mail, for what the command waited for
    while (!mail_.compare_exchange_weak(c.next, &c, std::memory_order_release, std::memory_order_relaxed)) {
    }
    wake();
  }
  bool is_of(engine const& e) const noexcept { return &of_ == &e; }

 protected:
  /// Takes all mail.
  command* mail() noexcept {
    // relaxed: a hint, since a wake comes after the mail. acquire: pairs with bring.
    return mail_.load(std::memory_order_relaxed) == nullptr ? nullptr : mail_.exchange(nullptr, std::memory_order_acquire);
  }

  std::atomic<bool> deep_{false};

 private:
  std::atomic<command*> mail_{nullptr};
  engine const& of_;
};

}  // namespace nopal::mpi
