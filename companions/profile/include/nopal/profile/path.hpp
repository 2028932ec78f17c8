#pragma once

// The longest path to a point of the program, by site: how much of it is in what each site has forked. A path is a list from its end to its
// beginning, and shares its beginning with other paths: so a fork adds one element, and copies nothing. By the owner of the path; any
// thread may read shared parts. Next: point.hpp.

#include <cstdint>
#include <utility>
#include <vector>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The number of a place that forks: site.hpp.
using site_id = std::uint32_t;

class path {
 public:
  path() noexcept = default;
  path(path const& o) noexcept : last_{o.last_} {
    if (last_ != nullptr) share(*last_);
  }
  path(path&& o) noexcept : last_{std::exchange(o.last_, nullptr)} {}
  path& operator=(path o) noexcept {
    std::swap(last_, o.last_);
    return *this;
  }
  ~path() {
    if (last_ != nullptr) drop(last_);
  }

  /// Adds `amount` in what `site` has forked to the path. Without memory the path loses that, and calls out_of_memory.
  NOPAL_API void go_on(site_id site, std::uint64_t amount) noexcept;

  struct part {
    site_id site;
    std::uint64_t amount;
  };
  /// The amount of each site. Throws std::bad_alloc.
  NOPAL_API std::vector<part> parts() const;

 private:
  struct element;
  NOPAL_API static void share(element& e) noexcept;
  NOPAL_API static void drop(element* e) noexcept;
  void shorten() noexcept;

  element* last_ = nullptr;
};

}  // namespace nopal::core
