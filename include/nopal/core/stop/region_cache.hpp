#pragma once

// A worker's free regions for stolen branches and for later children. Next: later_region.hpp and later_children.hpp, which take from it;
// stop_region.hpp, the table behind it.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/stop/stop_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct children;
class stop_region;

/// By the worker only. A region may be put into another worker's cache than it was taken from.
class NOPAL_API region_cache {
 public:
  region_cache() noexcept = default;
  region_cache(region_cache const&) = delete;
  region_cache& operator=(region_cache const&) = delete;
  ~region_cache();

  /// A region inside of `outer` that `join` asks. Throws std::bad_alloc.
  stop_region& get(join_word const& join, region_id outer);
  /// A region inside of `outer` that is asked to stop by the children of `c` forked before so many steals of its parent. Throws
  /// std::bad_alloc.
  stop_region& get(children& c, std::uint64_t epoch, region_id outer);
  /// `r` is free: nothing runs in it any more.
  void put(stop_region& r) noexcept;

 private:
  stop_region& get_inside(region_id outer);

  static constexpr unsigned most = 64;  // the others go back to the table

  stop_region* first_ = nullptr;
  unsigned count_ = 0;
};

}  // namespace nopal::core
