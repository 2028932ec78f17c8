#pragma once

// The event source of one pool: its idle workers look into the engine. Next: nopal/event_source.hpp; ../README.md.

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine.hpp"
#include "looker.hpp"

namespace nopal::inline NOPAL_ABI::mpi {

class source final : public looker {
 public:
  explicit source(std::shared_ptr<engine> e) : looker{*e}, engine_{std::move(e)} { engine_->enter(*this); }
  ~source() override { engine_->leave(*this); }

  void poll() noexcept override;
  void wait() noexcept override;
  void wake() noexcept override;

 private:
  void sleep(std::int64_t nanoseconds) noexcept;

  std::shared_ptr<engine> const engine_;
  command* found_ = nullptr;  // by wait, for poll
  std::atomic<std::uint32_t> woken_{0};
};

}  // namespace nopal::mpi
