#pragma once

// The children of a scope off a pool that nobody has begun. The thread that forks them has no stack to offer, so it puts them here, and one
// job of the default pool, the carrier, brings them to the workers. README.md, "Scopes off a pool", says why each begins once a worker is
// free, and who frees what. Next: scope_child.hpp, which makes them.

#include <atomic>
#include <cstdint>
#include <exception>

#include "nopal/core/stack/children.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/resumable.hpp"

namespace nopal::core {

struct pool_state;
class worker;

/// One of them. It belongs to whoever has taken it.
struct outside_child {
  /// Runs the closure on the calling worker, frees this, and arrives at the join: then the scope may be gone.
  void (*run)(outside_child&) noexcept;
  children& of;
  std::uint64_t epoch;  ///< its place in the serial order
  outside_child* older = nullptr;
  outside_child* newer = nullptr;

  outside_child(children& c, void (*f)(outside_child&) noexcept) noexcept : run{f}, of{c}, epoch{c.steals()} {}
};

/// What one scope has forked since its last join. It is the carrier, too: as a job it brings one child, and comes again if there are more.
class NOPAL_API outside_children : resumable {
 public:
  /// Those of `c`; its first fork makes them. By the scope's thread, which dies with a message if it works for a pool. Throws
  /// std::bad_alloc and what default_pool() throws: then nothing has happened.
  /// `pool` gives the one whose workers run them; `begin_all` takes all that nobody has begun, and runs them in parallel, on a worker.
  static outside_children& of(children& c, pool_state& (*pool)(), void (*begin_all)(outside_children&));
  /// By the scope's thread. A worker that is free begins it, if nobody has taken it before.
  void add(outside_child& c) noexcept;
  /// The youngest that nobody has begun, or null. By whoever will run it.
  outside_child* take_newest() noexcept;
  /// By the scope's thread. Returns when all have ended: it takes what nobody has begun, the newest first, and works in a sleeping worker's
  /// place. Then this may be gone.
  void join(children& c) noexcept;

 private:
  outside_children(pool_state& on, void (*b)(outside_children&)) noexcept : resumable{carry}, pool_{on}, begin_all_{b} {}
  ~outside_children() = default;

  static void carry(resumable& r, worker& w) noexcept;
  void help() noexcept;
  void leave() noexcept;
  void lock() noexcept;
  void unlock(std::uint32_t kept) noexcept;

  static constexpr std::uint32_t locked = 1;
  static constexpr std::uint32_t carried = 2;  ///< the carrier is in an inbox or a ring, or looks: it will find what there is
  static constexpr std::uint32_t left = 4;     ///< the scope is done: the carrier, when it comes, frees this

  pool_state& pool_;
  void (*const begin_all_)(outside_children&);
  std::atomic<std::uint32_t> word_{0};
  // Under the lock.
  outside_child* oldest_ = nullptr;
  outside_child* newest_ = nullptr;
};

}  // namespace nopal::core
