#pragma once

// Where the items of a pipeline pass one by one: the turn of one item at a stage in order, the gate of a serial stage, the gate of the
// source. Each is one word. A carrier (flow.hpp) that finds a gate taken leaves its line there and does something else; the carrier that
// leaves the gate finds that line. At the end, where a carrier sees whether a ticket is out, by which another would come. README.md,
// "Hand-over" and "Tickets", has the proofs. `Line` has `behind`, a pointer that belongs to whoever owns the
// line. `alone`: no two threads use the pipeline at once, so no read-modify-write is needed. Next: flow.hpp.

#include <atomic>
#include <cstdint>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Whether item `k` may enter a stage in order. Two come here, once each: the line with the item, and the turn, brought by the carrier that
/// has taken item `k - 1` through the stage. The second of them continues with the item.
///
///     | 0: neither has come, or the item has left | here 1: the turn has come | inside 2 | handed_on 3: inside, but offered to thieves |
///     | else the line has come, and this is it |
template <class Sync, class Line>
class basic_turn {
 public:
  /// The item has come, in line `l`, which the caller owns. True: its turn has, too, and the caller is inside. False: the line belongs to
  /// the carrier that brings the turn, and may be anywhere.
  NOPAL_INLINE bool arrive(Line& l, bool alone) noexcept {
    std::uintptr_t w = word_.load(std::memory_order_acquire);  // acquire: pairs with pass, for what the item before has done in the stage
    auto const to = reinterpret_cast<std::uintptr_t>(&l);
    // release: pairs with pass, for the line and its item. acquire where it fails: as the load
    if (w == 0 && (alone ? set(to) : word_.compare_exchange_strong(w, to, std::memory_order_release, std::memory_order_acquire)))
      return false;
    enter();
    return true;
  }
  /// The line that pass has returned is inside. By its carrier, for those that wait a moment. relaxed, also in arrive: a hint, which no other
  /// carrier changes.
  NOPAL_INLINE void enter() noexcept { word_.store(inside, std::memory_order_relaxed); }
  /// The item leaves the stage. Before the turn is passed on, which publishes this. relaxed: README.md says who sees it.
  NOPAL_INLINE void leave() noexcept { word_.store(0, std::memory_order_relaxed); }
  /// The turn has come. Returns the line that waits for it, which is the caller's then, or null: the item has not come.
  NOPAL_INLINE Line* pass(bool alone) noexcept {
    std::uintptr_t w = word_.load(std::memory_order_acquire);  // acquire: pairs with arrive, for the line and its item
    // release: pairs with arrive, for what the item before has done in the stage. acquire where it fails: as the load
    if (w == 0 && (alone ? set(here) : word_.compare_exchange_strong(w, here, std::memory_order_release, std::memory_order_acquire)))
      return nullptr;
    word_.store(handed_on, std::memory_order_relaxed);  // relaxed: as enter
    return reinterpret_cast<Line*>(w);                  // NOLINT(performance-no-int-to-ptr)
  }
  /// The turn of the first item, before any other thread knows of the pipeline.
  void begin() noexcept { word_.store(here, std::memory_order_relaxed); }  // relaxed: what makes the pipeline known publishes it

  // Hints, for a carrier that may wait a moment. relaxed: arrive decides.
  bool has_come() const noexcept { return word_.load(std::memory_order_relaxed) == here; }
  bool is_inside() const noexcept { return word_.load(std::memory_order_relaxed) == inside; }

 private:
  static constexpr std::uintptr_t here = 1;
  static constexpr std::uintptr_t inside = 2;
  static constexpr std::uintptr_t handed_on = 3;

  NOPAL_INLINE bool set(std::uintptr_t to) noexcept {
    word_.store(to, std::memory_order_relaxed);  // relaxed: one thread at a time
    return true;
  }

  typename Sync::template atomic<std::uintptr_t> word_{0};
};

/// The gate of a serial stage: one line is inside, others wait. The carrier that leaves takes the next line with it, the oldest first.
///
///     | 0: nobody is inside | 1: somebody is | else somebody is, and this is the newest line that has come to wait |
template <class Sync, class Line>
class basic_serial_gate {
 public:
  /// True: the caller is inside, with line `l`. False: the line waits, and is whoever's leaves.
  NOPAL_INLINE bool enter(Line& l, bool alone) noexcept {
    std::uintptr_t w = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    for (;;) {
      if (w != 0) l.behind = w == inside ? nullptr : reinterpret_cast<Line*>(w);  // NOLINT(performance-no-int-to-ptr)
      std::uintptr_t const to = w == 0 ? inside : reinterpret_cast<std::uintptr_t>(&l);
      if (alone) {
        word_.store(to, std::memory_order_relaxed);  // relaxed: one thread at a time
        return w == 0;
      }
      // acquire: pairs with leave, for what was done inside. release: pairs with leave, for the line and its item. relaxed where it fails:
      // it is tried again.
      if (word_.compare_exchange_weak(w, to, std::memory_order_acq_rel, std::memory_order_relaxed)) return w == 0;
    }
  }
  /// By the carrier inside. Returns the line that is inside now, the caller's; or null: nobody is.
  NOPAL_INLINE Line* leave(bool alone) noexcept {
    if (oldest_ == nullptr) {
      std::uintptr_t w = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
      if (w == inside && alone) {
        word_.store(0, std::memory_order_relaxed);  // relaxed: one thread at a time
        return nullptr;
      }
      // release: pairs with enter, for what was done inside. relaxed where it fails: the exchange below acquires
      if (w == inside && word_.compare_exchange_strong(w, 0, std::memory_order_release, std::memory_order_relaxed)) return nullptr;
      take_all(word_.exchange(inside, std::memory_order_acquire));  // acquire: pairs with enter, for the lines and their items
    }
    Line* const next = oldest_;
    oldest_ = next->behind;
    return next;
  }

  // Hints, for a carrier that may wait a moment: between these two the carrier inside runs the stage. relaxed: enter decides.
  NOPAL_INLINE void begins() noexcept { runs_.store(true, std::memory_order_relaxed); }
  NOPAL_INLINE void ends() noexcept { runs_.store(false, std::memory_order_relaxed); }
  bool is_free() const noexcept { return word_.load(std::memory_order_relaxed) == 0; }
  bool is_run() const noexcept { return runs_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uintptr_t inside = 1;

  // The newest comes first in the word.
  void take_all(std::uintptr_t w) noexcept {
    for (auto* l = reinterpret_cast<Line*>(w); l != nullptr;) {  // NOLINT(performance-no-int-to-ptr)
      Line* const older = l->behind;
      l->behind = oldest_;
      oldest_ = l;
      l = older;
    }
  }

  typename Sync::template atomic<std::uintptr_t> word_{0};
  typename Sync::template atomic<bool> runs_{false};
  typename Sync::template plain<Line*> oldest_{nullptr};  // of those that the carrier inside has taken out of the word, linked by behind
};

/// A line that was handed on: it is inside of a serial stage, and belongs to the first carrier that takes it. One for each such stage.
template <class Sync, class Line>
class basic_ready_line {
 public:
  /// By the carrier that has left the stage and got `l` from its gate. So none is here.
  void put(Line& l, bool alone) noexcept {
    if (alone) return line_.store(&l, std::memory_order_relaxed);  // relaxed: one thread at a time
    line_.store(&l, std::memory_order_seq_cst);                    // seq_cst: README.md, "Tickets"; release: pairs with take
  }
  /// By any carrier; null: none is here.
  NOPAL_INLINE Line* take(bool alone) noexcept {
    // seq_cst: README.md, "Tickets"
    if (line_.load(std::memory_order_seq_cst) == nullptr) [[likely]]
      return nullptr;
    if (!alone)
      return line_.exchange(nullptr, std::memory_order_acquire);  // acquire: pairs with put, for the line and what the stage has done
    Line* const l = line_.load(std::memory_order_relaxed);
    line_.store(nullptr, std::memory_order_relaxed);  // relaxed: one thread at a time
    return l;
  }

 private:
  typename Sync::template atomic<Line*> line_{nullptr};
};

/// The gate of the source: a carrier is inside, or none. Beside it is the list of free lines, which have no item. Only the carrier inside
/// takes lines out.
///
///     | newest free line | closed: value 2 | inside: value 1 |
template <class Sync, class Line>
class basic_source_gate {
 public:
  /// True: the caller is inside. False: `l`, if not null, is in the list now, since another carrier is inside; or the source is closed, and
  /// nobody needs `l`.
  NOPAL_INLINE bool enter(Line* l, bool alone) noexcept {
    std::uintptr_t w = word_.load(std::memory_order_seq_cst);  // seq_cst: README.md, "Tickets"
    while ((w & closed) == 0) {
      bool const enters = (w & inside) == 0;
      if (!enters && l == nullptr) return false;
      if (!enters) l->behind = line_in(w);
      std::uintptr_t const to = enters ? w | inside : reinterpret_cast<std::uintptr_t>(l) | inside;
      // acquire: pairs with leave, for what was done inside. release: pairs with take_line, for the line. relaxed where it fails: it is
      // tried again.
      if (alone ? set(to) : word_.compare_exchange_weak(w, to, std::memory_order_acq_rel, std::memory_order_relaxed)) return enters;
    }
    return false;
  }
  /// Adds a free line, which the caller owns, to the list.
  void put(Line& l, bool alone) noexcept {
    std::uintptr_t w = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    while ((w & closed) == 0) {
      l.behind = line_in(w);
      // release: pairs with take_line, for the line. acquire: pairs with leave; README.md, "Tickets". relaxed where it fails: it is tried
      // again.
      std::uintptr_t const to = reinterpret_cast<std::uintptr_t>(&l) | (w & inside);
      if (alone ? set(to) : word_.compare_exchange_weak(w, to, std::memory_order_acq_rel, std::memory_order_relaxed)) return;
    }
  }
  /// Takes a line out of the list; null: it is empty. By the carrier inside.
  Line* take_line(bool alone) noexcept {
    std::uintptr_t w = word_.load(std::memory_order_acquire);  // acquire: pairs with enter and put, for the line
    for (;;) {
      Line* const first = line_in(w);
      if (first == nullptr) return nullptr;
      // Nobody else takes lines out: so where the exchange succeeds the first one has not changed, nor what is behind it. relaxed then;
      // acquire where it fails: as the load.
      std::uintptr_t const to = reinterpret_cast<std::uintptr_t>(static_cast<Line*>(first->behind)) | inside;
      if (alone ? set(to) : word_.compare_exchange_weak(w, to, std::memory_order_relaxed, std::memory_order_acquire)) return first;
    }
  }
  /// Leaves. By the carrier inside. True: a free line is in the list.
  NOPAL_INLINE bool leave(bool alone) noexcept {
    std::uintptr_t w = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // seq_cst: README.md, "Tickets"; release: pairs with enter, for what was done inside. relaxed where it fails: it is tried again
    while (!(alone ? set(w & ~flags) : word_.compare_exchange_weak(w, w & ~flags, std::memory_order_seq_cst, std::memory_order_relaxed))) {
    }
    return line_in(w) != nullptr;
  }
  /// Closes the source for ever. By the carrier inside. relaxed: what finds it closed needs nothing.
  void close() noexcept { word_.store(closed, std::memory_order_relaxed); }

  // Hints. relaxed: enter decides.
  bool is_taken() const noexcept { return (word_.load(std::memory_order_relaxed) & inside) != 0; }
  bool is_closed() const noexcept { return (word_.load(std::memory_order_relaxed) & closed) != 0; }

 private:
  static constexpr std::uintptr_t inside = 1;
  static constexpr std::uintptr_t closed = 2;
  static constexpr std::uintptr_t flags = 3;
  static Line* line_in(std::uintptr_t w) noexcept { return reinterpret_cast<Line*>(w & ~flags); }  // NOLINT(performance-no-int-to-ptr)

  NOPAL_INLINE bool set(std::uintptr_t to) noexcept {
    word_.store(to, std::memory_order_relaxed);  // relaxed: one thread at a time
    return true;
  }

  typename Sync::template atomic<std::uintptr_t> word_{0};
};

/// Whether a ticket is out: offered, and no thief has begun with it yet.
template <class Sync>
class basic_ticket_flag {
 public:
  /// By the owner of the ticket's line, after it has made something that can be done. True: the ticket is the caller's, to be offered. False:
  /// it is out, and who has it looks for what can be done, later.
  NOPAL_INLINE bool begin() noexcept {
    if (out_.load(std::memory_order_seq_cst)) [[unlikely]]  // seq_cst: README.md, "Tickets"
      return false;
    out_.store(true, std::memory_order_relaxed);  // relaxed: what publishes the ticket, or hands its line on, publishes this
    return true;
  }
  /// By any carrier that ends, of a ticket that is no line's. True: the ticket is the caller's, to be queued. False: it is out, and who has
  /// it sees what the caller has done.
  /// acq_rel, both with taken: release, of what the caller has done; acquire, since the queue that had the ticket has written into it.
  bool claim() noexcept { return !out_.exchange(true, std::memory_order_acq_rel); }
  /// By the thief that has taken the ticket, before it looks for what can be done. seq_cst: README.md, "Tickets"; acquire: pairs with claim.
  void taken() noexcept { out_.exchange(false, std::memory_order_seq_cst); }
  /// By the carrier that has offered the ticket, and has it back. `owns_line`: it still has the ticket's line. Otherwise another carrier may
  /// have that, and be in begin: then the caller looks for what can be done afterwards.
  NOPAL_INLINE void taken_back(bool owns_line) noexcept {
    if (!owns_line) [[unlikely]]
      return taken();
    out_.store(false, std::memory_order_relaxed);  // relaxed: only the owner of the line reads it
  }

 private:
  typename Sync::template atomic<bool> out_{false};
};

}  // namespace nopal::core
