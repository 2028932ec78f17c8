#pragma once

// The longest path to a point of the program, by site: how much of it lies in what each site has forked. A path is a list from
// its end to its beginning, whose beginning it shares with other paths: so a fork adds one element, and copies nothing. By
// whoever owns the path; parts that are shared are read by any thread. Next: point.hpp.

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

  /// The path goes on by `amount` in what `site` has forked. Where there is no memory the path loses that, and out_of_memory says so.
  NOPAL_API void go_on(site_id site, std::uint64_t amount) noexcept;

  struct part {
    site_id site;
    std::uint64_t amount;
  };
  /// What each site has of it. Throws std::bad_alloc.
  NOPAL_API std::vector<part> parts() const;

 private:
  struct element;
  NOPAL_API static void share(element& e) noexcept;
  NOPAL_API static void drop(element* e) noexcept;
  void shorten() noexcept;

  element* last_ = nullptr;
};

}  // namespace nopal::core
