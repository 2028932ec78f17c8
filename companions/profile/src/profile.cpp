#include "nopal/profile.hpp"

#include <stdexcept>
#include <utility>

#include "profile/src/any_region.hpp"
#include "profile/src/report.hpp"

namespace nopal::inline NOPAL_ABI {

void profile::begin(profile_options const& options) { core::begin_region(region_, options.unit, options.burden, options.what_if); }

profile::~profile() {
  stop();
  core::forget_region(region_);
}

void profile::stop() noexcept {
  if (!std::exchange(stopped_, true)) core::end_region(region_);
}

profile_report profile::report() const {
  if (!stopped_) throw std::logic_error{"nopal: a profile was asked for its report before it was stopped; call stop() first"};
  return core::report_of(region_);
}

}  // namespace nopal
