#pragma once

// What the engine knows of a pool's source: whether it sleeps until somebody waits. Next: source.hpp.

#include <atomic>

#include "nopal/core/compiler/config.hpp"
#include "nopal/event_source.hpp"

namespace nopal::inline NOPAL_ABI::mpi {

class engine;

class looker : public event_source {
 public:
  explicit looker(engine const& e) noexcept : of_{e} {}

  /// seq_cst: ../README.md, "Why no request is lost".
  bool sleeps_deeply() const noexcept { return deep_.load(std::memory_order_seq_cst); }
  bool is_of(engine const& e) const noexcept { return &of_ == &e; }

 protected:
  std::atomic<bool> deep_{false};

 private:
  engine const& of_;
};

}  // namespace nopal::mpi
