#pragma once

// The children, not yet begun, of a scope that has no stack to offer: its thread works for no pool, or its stack stays. So it puts them
// into this list. One job of the pool, the carrier, takes them to the workers. Why each child begins once a worker is free, and which
// thread frees what: README.md, "Scopes off a pool". Called by ../../scope.hpp and scope_child.cpp. Next: scheduler/submission.hpp, which
// puts the carrier into an inbox.

#include <atomic>
#include <cstdint>
#include <exception>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/stack/children.hpp"
#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;
class stack;
class worker;

/// A child in the list. It belongs to the thread that takes it out.
struct outside_child {
  /// Runs the closure on the calling worker, frees this, and arrives at the join: from then on the scope may be gone.
  void (*run)(outside_child&) noexcept;
  children& of;
  std::uint64_t epoch;  ///< its place in the serial order
  /// Of the scope's thread when it forked; it holds the region.
  strand_context const runs_in{job_context::now(inherited_region()), values_here()};
  outside_child* older = nullptr;
  outside_child* newer = nullptr;

  outside_child(children& c, void (*f)(outside_child&) noexcept) noexcept : run{f}, of{c}, epoch{c.steals()} {
    hold_region(runs_in.region);
  }
  outside_child(outside_child const&) = delete;
  outside_child& operator=(outside_child const&) = delete;
  ~outside_child() { drop_region(runs_in.region); }
};

/// What one scope has forked since its last join. It is the carrier, too: each time that a worker runs it as a job, it takes one child, and
/// is put into the worker's ring again if there are more.
class NOPAL_API outside_children : resumable {
 public:
  /// The list of `c`, which the first fork makes. By the scope's thread. Ends the program with a message if the scope belongs to another
  /// stack. Throws std::bad_alloc and what pool() throws: then nothing has happened. pool() returns the pool whose workers run the
  /// children; begin_all(list) takes all that are in the list, and runs them in parallel, on a worker.
  static outside_children& of(children& c, pool_state& (*pool)(), void (*begin_all)(outside_children&) noexcept);
  /// Adds `c`, the newest. By the scope's thread. A worker begins it once it is free, unless the joining thread takes it before.
  void add(outside_child& c) noexcept;
  /// Takes the newest child out of the list, for the caller to run. Null: the list is empty. By a worker.
  outside_child* take_newest() noexcept;
  /// Returns when all children have ended. By the scope's thread. Runs what is still in the list, the newest first: on the thread's stack,
  /// if that stays; else as a sleeping worker, if there is one. Afterwards this may be gone.
  void join(children& c) noexcept;

 private:
  outside_children(stack* made_on, pool_state& on, void (*b)(outside_children&) noexcept) noexcept
      : resumable{carry}, made_on_{made_on}, pool_{on}, begin_all_{b} {}
  ~outside_children() = default;

  static void carry(resumable& r, worker& w) noexcept;
  void help() noexcept;
  void leave() noexcept;
  void lock() noexcept;
  void unlock(std::uint32_t kept) noexcept;

  // The bits of word_.
  static constexpr std::uint32_t locked = 1;   ///< held for a few instructions
  static constexpr std::uint32_t carried = 2;  ///< the carrier is in an inbox or a ring, or searches the list: it will find what is there
  static constexpr std::uint32_t left = 4;     ///< the scope has ended: the carrier frees this when it runs next

  stack* const made_on_;  // the stack on which the scope's function runs, if that stays; null off a pool
  pool_state& pool_;
  void (*const begin_all_)(outside_children&) noexcept;
  std::atomic<std::uint32_t> word_{0};
  // The list, under the lock.
  outside_child* oldest_ = nullptr;
  outside_child* newest_ = nullptr;
};

}  // namespace nopal::core
