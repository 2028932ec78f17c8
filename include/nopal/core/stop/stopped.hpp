#pragma once

// The exception that leaves code which was asked to stop. Plain data: core/stop/here.hpp throws it, ../../stop.hpp shows it.

#include <exception>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI {

/// Thrown by stop_point, and by waits that end early, if the caller was asked to stop.
class NOPAL_API stopped : public std::exception {
 public:
  stopped() noexcept = default;
  stopped(stopped const&) noexcept = default;
  stopped& operator=(stopped const&) noexcept = default;
  ~stopped() override;
  char const* what() const noexcept override;
};

namespace core {
/// Throws nopal::stopped.
[[noreturn]] NOPAL_API NOPAL_COLD void throw_stopped();
/// True if it is a nopal::stopped. What has left a fiber or a job that way was asked for, and is no failure to report.
NOPAL_API NOPAL_COLD bool is_stopped(std::exception_ptr const& e) noexcept;
}  // namespace core

}  // namespace nopal
