#pragma once

// The longest path to a point of the program, by site: how much of it is in what each site has forked. A path is a list from its end to its
// beginning, and shares its beginning with other paths: so a fork adds one element, and copies nothing. By the owner of the path; any
// thread may read shared parts. Next: procedure.hpp, which moves along one.

#include <cstdint>
#include <utility>
#include <vector>

#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/profile/site.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

// A point of the program's dag: the work on the longest path from the region's beginning to it.

struct point {
  std::uint64_t span = 0;
  std::uint64_t burdened = 0;  ///< as span, with the burden of each continuation and return
  std::uint64_t if_free = 0;   ///< the span if what the asked site forks took no time
  path longest;                ///< `span` by site
};

// The span if what is forked at one place were serial, or took no time. A region may ask that of one place. The span if it took no time is
// one more length of each path. If it were serial, what follows each of its forks would begin where the child ends, which is not known
// while both run: so each procedure counts from its own beginning, and each join puts its children's lengths into order.

/// What a child gives to its parent's join, for the span if all forks of the asked place were serial.
struct child_in_series {
  unsigned order;
  bool serial;           ///< it was forked at the asked place
  std::uint64_t from;    ///< the parent's count at the fork
  std::uint64_t length;  ///< the child's count
};

// Where the paths of children meet their parent's: keeps the longest. It is stored beside the join of the scope, parallel_invoke or task.
// Any number of children's workers at once; the parent takes the result once all have ended, which the join itself orders.

class measured_join {
 public:
  /// A child has ended, at `at`. Of paths of equal length the one of the child that was forked first is kept, on any schedule.
  NOPAL_API void arrive(point&& at, unsigned order) noexcept;
  /// In addition to arrive, if a place is asked of. `known`: the child's length is known.
  void arrive_in_series(child_in_series const& c, bool known) noexcept;
  /// The parent, which is at `mine`, continues after its children. True: its path is now a child's. Resets this object.
  NOPAL_API bool take_into(point& mine) noexcept;
  /// If a place is asked of: moves `mine`, the parent's count, to after its children. False: some length is not known.
  bool take_in_series(std::uint64_t& mine) noexcept;

 private:
  basic_spin_lock<std_sync> lock_;
  bool has_one_ = false;
  unsigned order_ = 0;  // of the child whose path it is
  point latest_;
  bool series_known_ = true;
  std::vector<child_in_series> series_;
};

}  // namespace nopal::core
