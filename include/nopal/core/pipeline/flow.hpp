#pragma once

// A line: one token of a pipeline, and the item that holds it. Its ticket is what a carrier offers to thieves while it carries that item.
// README.md, "Where a line is" and "Tickets". Below: the flow.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>

#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/loop/pace.hpp"
#include "nopal/core/pipeline/gates.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/join_wait.hpp"
#include "nopal/core/stack/native_fork.hpp"
#include "nopal/core/stop/stop_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

class flow;

/// A place for one more carrier. It holds nothing: the thief that takes it looks for something to carry.
struct ticket : inheriting {
  flow& of;
  basic_ticket_flag<std_sync> is_out;

  ticket(run_function f, flow& whole) noexcept : inheriting{f}, of{whole} {}
};

/// At any time one carrier owns it, or it is at one gate, or it is ready. Only its owner touches it, but for the ticket.
struct line {
  line* behind = nullptr;   ///< in the list of a gate
  std::uint64_t item = 0;   ///< the number of its item, if it has one
  std::size_t slot = 0;     ///< the row with that item's turn at each stage in order
  std::uint32_t holds = 0;  ///< the stage, counted from 1, that takes the value it holds; 0: it holds none
  core::ticket ticket;

  line(resumable::run_function f, flow& whole) noexcept : ticket{f, whole} {}
  line(line const&) = delete;
  line& operator=(line const&) = delete;
};

using turn = basic_turn<std_sync, line>;
using serial_gate = basic_serial_gate<std_sync, line>;
using source_gate = basic_source_gate<std_sync, line>;
using ready_line = basic_ready_line<std_sync, line>;

// A flow: one run of a pipeline, from its first item until all has ended. Here: what does not depend on the types of its stages. It is in
// the frame of the caller. Threads that carry items through it are its *carriers*: the caller, and each thief that has taken a ticket. Next:
// typed_flow.hpp, the path of an item; src/pipeline/flow.cpp, where a ticket was stolen.

class NOPAL_API flow {
 public:
  flow(flow const&) = delete;
  flow& operator=(flow const&) = delete;

 protected:
  /// Carries items until there is nothing that the calling worker can do, or, but for the caller, until it makes way.
  using carry_function = void (*)(flow& self, bool is_caller) noexcept;

  /// `most_offers`: how many tickets one carrier offers at once, at most.
  flow(carry_function carry, std::int64_t most_offers) noexcept : carry_{carry}, most_offers_{most_offers}, way_{run_stolen, *this} {}
  ~flow() = default;

  /// By the caller's worker, before any other knows of the flow.
  NOPAL_COLD void begin() noexcept;
  /// Returns when all carriers have ended. By the caller, which has carried.
  NOPAL_COLD void end() noexcept;
  /// Rethrows what has left a stage or the source first in serial order, if anything has. After end().
  void rethrow() const {
    if (error_ != nullptr) [[unlikely]]
      std::rethrow_exception(error_);
  }

  /// std::current_exception() has left a stage with this item, or the source when it was asked for the item.
  NOPAL_COLD void failed(std::uint64_t item) noexcept;
  /// True if serial execution would not reach this item any more, since an earlier one has thrown. relaxed: a hint; what was thrown goes by
  /// the end of the carriers.
  bool is_over(std::uint64_t item) const noexcept { return item >= end_.load(std::memory_order_relaxed); }

  /// By a worker that offers nothing while it carries an item: answers thieves, and runs what is due. Another worker may run the caller
  /// afterwards.
  NOPAL_INLINE static void poll() noexcept {
    if (current()->work.must_poll()) [[unlikely]]
      poll_slowly();
  }

  /// Something waits for this worker: in its ring, or in its inboxes; or its thread has left a stack to which only it comes back. May be true
  /// for no reason.
  NOPAL_INLINE static bool others_wait() noexcept {
    worker const& w = *current();
    return !w.ready.empty() || !w.open.empty() || !w.own.empty() || w.search.own != nullptr || w.search.left_in_order != nullptr;
  }
  /// Between two items, while others_wait(). `since`: when the carrier found that first, in ticks, or 0. `free`: as carry_next. True: the
  /// carrier ends, and `free` is not its own any more. Another worker may run the caller of the flow afterwards.
  NOPAL_COLD bool makes_way(bool is_caller, std::uint64_t& since, line* free) noexcept;

  /// Before a carrier looks at what others change. On a simulated machine these come first, as at every object that strands share
  /// (virtual_time.hpp): else one that is ahead would find gates and turns as they are later, and end. Another worker does not run the
  /// caller afterwards.
  NOPAL_INLINE void in_simulated_order() const noexcept {
    if (has_own_clock_) [[unlikely]]
      come_in_order();
  }

  /// Another carrier is about to end what the caller needs, perhaps: waits for has_come(), while is_near() and for as long as leaving the
  /// line and getting another one takes.
  template <class HasCome, class IsNear>
  NOPAL_COLD void wait_a_moment(HasCome has_come, IsNear is_near) const noexcept {
    if (!may_wait_) return;
    moment m;
    do in_simulated_order();
    while (!has_come() && is_near() && !m.is_over());
  }

  /// resumable::run of each ticket.
  NOPAL_COLD static void run_stolen(resumable& r, worker& w) noexcept;

  /// A ticket that a carrier offers to thieves while it carries an item. In the carrier's frame. Offers nest.
  class offered {
   public:
    offered() noexcept = default;
    offered(offered const&) = delete;
    offered& operator=(offered const&) = delete;

    /// Offers the ticket of `l`, which the caller owns, unless it is out. Another worker may run the caller afterwards.
    NOPAL_INLINE void begin(line& l) noexcept {
      ticket_ = &l.ticket;
      if (!l.ticket.is_out.begin()) [[unlikely]]
        return begin_without();
      worker& w = *current();
      if (w.work.must_poll()) [[unlikely]]
        return begin_slowly();
      state_ = private_;
      make_offer(w, continuation{l.ticket});
    }
    /// Takes the ticket back, unless a thief has it. `owns_line`: the caller still has the line that it gave to begin. Otherwise it looks for
    /// what can be done afterwards.
    NOPAL_INLINE void end(flow& f, bool owns_line) noexcept {
      if (state_ != private_ || !core::take_back(*current())) [[unlikely]]
        return end_slowly(f, owns_line);
      ticket_->is_out.taken_back(owns_line);
    }

   private:
    NOPAL_COLD void begin_without() noexcept;
    NOPAL_COLD void begin_slowly() noexcept;
    NOPAL_COLD void end_slowly(flow& f, bool owns_line) noexcept;

    enum : std::uint64_t {
      refused,   // too little is left of the stack, or of memory; or the ticket is out
      private_,  // offered without a poll
      polled,    // offered, and the deque's limit is to be restored
    } state_;
    std::uintptr_t limit_;  // of the deque, before the poll
    ticket* ticket_;
    // So that no offer takes less of the native stack than a branch: least_native_fork.
    [[maybe_unused]] std::byte room_[sizeof(branch) - 3 * sizeof(std::uint64_t)];
  };

  /// Whether a thief's carrier helps: short items may come through faster without it. In the carrier's frame. README.md, "Looking on".
  class trial {
   public:
    NOPAL_INLINE trial(flow& f, bool is_caller) noexcept {
      if (!is_caller && f.may_wait_) begin(f, tuning::pipeline_trial);
    }
    trial(trial const&) = delete;
    trial& operator=(trial const&) = delete;

    /// After each item of the carrier. True: it sees.
    NOPAL_INLINE bool is_due() noexcept { return --left_ == 0; }
    /// If it has counted for long enough it looks on, until it is needed. Returns `free`; or null: that is not the caller's any more.
    NOPAL_COLD line* see(flow& f, line* free) noexcept;

   private:
    NOPAL_COLD void begin(flow const& f, std::int64_t nanoseconds) noexcept;
    static std::uint64_t items(flow const& f) noexcept;            // how many have come
    double rate(flow const& f, std::uint64_t now) const noexcept;  // how many items have come in a tick
    bool looks_on(flow const& f, double with) noexcept;

    std::uint64_t left_ = std::numeric_limits<std::uint64_t>::max();  // of its own items, until it is due
    double lasts_;                                                    // in ticks
    std::uint64_t from_;                                              // how many items had come when it began to count
    std::uint64_t since_;                                             // when that was, in ticks
  };
  friend class trial;

  /// A time for which it is worth to wait.
  class moment {
   public:
    moment() noexcept : began_{waiting_ticks()} {}
    /// Pauses. True: the time is over.
    bool is_over() const noexcept {
      std_sync::relax();
      return static_cast<double>(waiting_ticks() - began_) > loop_tuning::moment();
    }

   private:
    std::uint64_t const began_;
  };

  // Only read while there are several carriers, but for end_.
  bool has_own_clock_ = false;  ///< a simulated machine's, of several workers
  bool alone_ = false;          ///< the pool has one worker, so one thread at a time uses the flow

 private:
  bool may_wait_ = false;  // not alone, and no turns are given
  carry_function const carry_;
  std::int64_t const most_offers_;
  region_id region_ = no_region;
  control_words mode_{};
  std::atomic<std::uint64_t> end_{std::numeric_limits<std::uint64_t>::max()};  // the first item that has thrown

 protected:
  // Of the carrier inside of the source's gate.
  alignas(tuning::destructive_size) source_gate source_;
  std::atomic<std::uint64_t> next_item_{0};  ///< others read it: "Looking on"
  std::size_t next_slot_ = 0;                ///< of the next item: its number modulo the tokens
  std::atomic<std::size_t> made_{0};         ///< lines that were made; others read it

  /// As source_.close(). By the carrier inside. relaxed: a hint, for those who look on.
  NOPAL_COLD void close_source() noexcept {
    source_.close();
    is_closed_.store(true, std::memory_order_relaxed);
  }

 private:
  NOPAL_COLD static void poll_slowly() noexcept;
  // A carrier has ended.
  bool leave() noexcept;
  bool one_carries_less() noexcept;

  // What carriers write as they begin and end.
  alignas(tuning::destructive_size) join_word join_;
  join_waiter waiting_;
  ticket way_;  // of a carrier that has made way; or it is out while the caller makes way
  // A hold for each carrier, and one for each ticket that it may offer at once: so a thief has a hold before it has the ticket.
  std::atomic<std::int64_t> holds_{0};
  std::atomic<unsigned> carrying_{0};   // carriers that do not look on
  std::atomic<bool> is_closed_{false};  // the source; here, since those who look on read it all the time
  basic_spin_lock<std_sync> lock_;      // of error_
  std::exception_ptr error_;            // what has left the item end_
};

/// Throws std::invalid_argument: a pipeline was given less than one token.
[[noreturn]] NOPAL_API NOPAL_COLD void reject_tokens(long long tokens);

}  // namespace nopal::core
