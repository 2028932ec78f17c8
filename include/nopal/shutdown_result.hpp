#pragma once

// shutdown_result: the result of nopal::shutdown. Plain data. Next: pool.hpp.

#include "nopal/core/compiler/config.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace nopal::inline NOPAL_ABI {

/// Whether all has ended, and what has not. `if (auto const s = nopal::shutdown(1s); !s) log(s.report());`
class shutdown_result {
 public:
  /// All has ended.
  shutdown_result() = default;
  /// `report` says what has not ended.
  explicit shutdown_result(std::string report) noexcept : report_{std::move(report)} {}

  /// True if everything has ended that was given to the default pool.
  explicit operator bool() const noexcept { return report_.empty(); }
  /// What has not ended, in words: how many jobs and fibers, and pool::report(). Empty if all has ended.
  std::string const& report() const noexcept { return report_; }

  // Deprecated: the result was this text before.
  NOPAL_DEPRECATED("write report()") operator std::string() const { return report_; }  // NOLINT(google-explicit-constructor)
  NOPAL_DEPRECATED("write if (result)") bool empty() const noexcept { return report_.empty(); }
  friend bool operator==(shutdown_result const& a, std::string_view b) noexcept { return a.report_ == b; }
  template <class Stream>
  friend auto operator<<(Stream& to, shutdown_result const& r) -> decltype(to << std::string{}) {
    return to << r.report_;
  }

 private:
  std::string report_;
};

}  // namespace nopal
