#pragma once

// Events from outside of a pool: which thread looks into the pool's event source; one at a time. README.md, "Events". Below: parking, where
// a worker waits in it; ../scheduler/search.hpp, the timer that looks while no worker waits.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/event_source.hpp"

namespace nopal::inline NOPAL_ABI::core {

class pool_events {
 public:
  explicit pool_events(std::shared_ptr<event_source> source) noexcept : source_{std::move(source)} {}

  /// Null if the pool has none.
  event_source* source() const noexcept { return source_.get(); }

  /// Looks once, if there is a source and no other thread is in it. Any thread.
  void poll() noexcept {
    if (source_ == nullptr || !enter()) return;
    source_->poll();
    leave();
  }
  /// Waits in the source, which the caller has entered. By a worker.
  void wait() noexcept {
    waits_.store(true, std::memory_order_relaxed);  // relaxed: a hint for the timer, which looks again
    source_->wait();
    waits_.store(false, std::memory_order_seq_cst);
  }
  /// True if a worker waits in the source.
  bool somebody_waits() const noexcept { return waits_.load(std::memory_order_seq_cst); }
  /// False: the timer will look, so the caller need not ask it to. seq_cst, as the end of `wait`, somebody_waits and timer_rests: README.md,
  /// "Events".
  bool asks_timer() noexcept { return !timer_will_look_.exchange(true, std::memory_order_seq_cst); }
  /// The timer will not look. By its thread, by who was to ask it, or where it has no thread any more.
  void timer_rests() noexcept { timer_will_look_.store(false, std::memory_order_seq_cst); }

  /// A worker of the pool has looked for events, in this source or past it. relaxed, here and below: hints for the timer; of two that note at
  /// once one may be lost
  void note_look() noexcept {
    std::int64_t const now = std_sync::now();
    if (now - last_look_.load(std::memory_order_relaxed) < tuning::between_counted_looks) return;
    last_look_.store(now, std::memory_order_relaxed);
    looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// So many looks count since the last call. By the timer's thread.
  std::int64_t take_looks() noexcept { return looks_.exchange(0, std::memory_order_relaxed); }
  /// True: the caller is in the source, and no other thread is until `leave`.
  // acquire and release pair with each other, for what belongs to the source
  bool enter() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }
  void leave() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::shared_ptr<event_source> const source_;
  alignas(destructive_size) std::atomic<bool> taken_{false};
  std::atomic<bool> waits_{false};
  std::atomic<bool> timer_will_look_{false};
  std::atomic<std::int64_t> looks_{0};
  std::atomic<std::int64_t> last_look_{0};
};

// Naps. The one thief of a node that must stay awake, though it has long found nothing, sleeps between its searches, longer each time. A
// thread that offers something new ends the nap. No protocol rests on this: a nap ends by itself, so a notice that comes too early to be
// seen costs at most tuning::longest_nap. README.md, "Naps". Next: ../scheduler/search.hpp, whose thief naps.

class naps {
 public:
  /// Sleeps until there is something new, or for `nanoseconds`. True: there is something new. By a thief.
  bool nap(std::int64_t nanoseconds) noexcept {
    word_.store(somebody_naps, std::memory_order_relaxed);  // relaxed, here and below: a hint, it orders nothing
    std_sync::wait_for(word_, somebody_naps, nanoseconds);
    return word_.load(std::memory_order_relaxed) != somebody_naps;
  }
  /// There is something new: wakes all that nap. By any thread, after it has offered it. One load if no thread naps.
  void end() noexcept {
    if (word_.load(std::memory_order_relaxed) == somebody_naps) wake();
  }

 private:
  static constexpr std::uint32_t nobody_naps = 0, somebody_naps = 1;

  NOPAL_COLD void wake() noexcept {
    // relaxed: as above; of several threads with something new, one wakes
    if (word_.exchange(nobody_naps, std::memory_order_relaxed) == somebody_naps) std_sync::wake_all(word_);
  }

  alignas(destructive_size) std::atomic<std::uint32_t> word_{nobody_naps};
};

// Parking: which worker sleeps, which is woken, and whose worker an external caller of pool::run occupies. The adaptive scheduler of the
// paper's Section III-D: while there is visible work, the last thief of a NUMA node stays awake; when there is none, all sleep and the pool
// uses no CPU. Why no wake-up is lost, and why each order is as it is: README.md. Any thread may call a function whose comment names no
// actor. Next: ../scheduler/submission.hpp, which announces work and occupies workers; ../scheduler/search.hpp, which parks.

/// State of a worker's thread, as far as other threads may change it. Which thread may change which state: README.md, "States".
enum class thread_state : std::uint32_t {
  awake,     ///< searches, or runs a strand; only the thread changes this
  parked,    ///< asleep, or about to be; any thread may notify it or occupy its worker
  notified,  ///< woken by another thread; only the thread changes this
  occupied,  ///< asleep, while an external caller works in its place; only that caller changes this
  dozing,    ///< asleep for a moment, as it waits on top of its stack: no thief, and not to be occupied; any thread may call it
  watching,  ///< waits in the pool's event source, not to be occupied; any thread may notify it
};

/// `Source`: where one thread at a time waits for events from outside instead of sleeping.
template <class Sync = std_sync, class Source = event_source>
class basic_parking {
 public:
  /// nodes[i] is the NUMA node of worker i, dense from 0. `events`: null if there are none.
  explicit basic_parking(std::span<unsigned const> nodes, Source* events = nullptr) : workers_(nodes.size()), source_{events} {
    unsigned count = 0;
    for (unsigned const n : nodes) count = n + 1 > count ? n + 1 : count;
    nodes_ = std::vector<node_entry>(count);
    for (unsigned i = 0; i < nodes.size(); ++i) {
      workers_[i].node_index = nodes[i];
      nodes_[nodes[i]].members.push_back(i);
    }
  }

  // ---- Visible work: the strands and rings that have offered some, plus the jobs in open inboxes and the entries of the queues `due`,
  // `high` and `low`. While it is not 0, some thread must search.

  /// seq_cst: the parker's read is in one order with the additions below.
  bool visible_work() const noexcept { return visible_work_.load(std::memory_order_seq_cst) != 0; }

  /// A strand offers its first continuation, or a ring its first entry: makes sure that each node has a thief. By the owner. seq_cst: the
  /// addition comes before the reads of `thieves` and `state`.
  void offer() noexcept {
    visible_work_.fetch_add(1, std::memory_order_seq_cst);
    for (node_entry& n : nodes_) wake_if_no_thief(n);
  }
  /// A job is about to be pushed into an inbox.
  void add() noexcept { visible_work_.fetch_add(1, std::memory_order_seq_cst); }
  /// A job, counted by add, was pushed into worker i's inbox: wakes a thread unless a thief will find the job, of its node or another. True:
  /// it has woken one.
  bool announce(unsigned i) noexcept {
    if (nodes_[workers_[i].node_index].thieves.load(std::memory_order_seq_cst) > 0) return false;
    if (wake_parked(i)) return true;
    for (node_entry& n : nodes_) {
      if (n.thieves.load(std::memory_order_seq_cst) > 0) return false;
      if (wake_one(n)) return true;
    }
    return false;
  }
  /// Subtracts `n` that offer and add have counted. relaxed: no partner; a thief that still sees the work searches once more.
  void retract(unsigned n = 1) noexcept { visible_work_.fetch_sub(n, std::memory_order_relaxed); }

  // ---- Thieves: worker i's own thread.

  /// The thread searches from now on. relaxed: no partner; a count too low for a moment costs a wake-up too many, see node_entry::thieves.
  void start_searching(unsigned i) noexcept { nodes_[workers_[i].node_index].thieves.fetch_add(1, std::memory_order_relaxed); }
  /// The thread has found something. While there is visible work, it wakes `many` others of its node; the node's last thief wakes at least
  /// one.
  void stop_searching(unsigned i, unsigned many = 0) noexcept {
    node_entry& n = nodes_[workers_[i].node_index];
    if (n.thieves.fetch_sub(1, std::memory_order_seq_cst) <= 1 && many == 0) many = 1;
    for (; many > 0 && visible_work() && wake_one(n); --many) {
    }
  }

  /// Sleeps, unless must_stay_awake(), or unless there is visible work and the node has no other thief. The caller counts as a thief before and
  /// after. True: it slept, after asleep(). In either case an external caller may have worked in its place.
  template <class Predicate, class Asleep = void (*)()>
  bool park(unsigned i, Predicate&& must_stay_awake, Asleep&& asleep = [] {}) noexcept {
    worker_entry& w = workers_[i];
    node_entry& n = nodes_[w.node_index];
    n.thieves.fetch_sub(1, std::memory_order_seq_cst);
    w.state.store(raw(thread_state::parked), std::memory_order_seq_cst);  // before the reads below; release: pairs with change, in occupy
    if ((visible_work() && n.thieves.load(std::memory_order_seq_cst) <= 0) || must_stay_awake()) {
      if (change(w, thread_state::parked, thread_state::awake)) {
        n.thieves.fetch_add(1, std::memory_order_relaxed);  // relaxed: as in start_searching
        return false;
      }  // else another thread has notified this one or occupied its worker, and has the duty to see what there is
    }
    asleep();
    for (;;) {
      std::uint32_t const s = w.state.load(std::memory_order_acquire);  // acquire: what the last external caller released, through notify
      if (s == raw(thread_state::notified)) break;
      Sync::wait(w.state, s);
    }
    // relaxed: no other thread changes `notified`. notify has counted the thief.
    w.state.store(raw(thread_state::awake), std::memory_order_relaxed);
    return true;
  }

  /// As park, but waits in the event source, by wait(). No other thread is in the source, and none occupies the worker.
  template <class Predicate, class Wait>
  bool watch(unsigned i, Predicate&& must_stay_awake, Wait&& wait) noexcept {
    worker_entry& w = workers_[i];
    node_entry& n = nodes_[w.node_index];
    n.thieves.fetch_sub(1, std::memory_order_seq_cst);
    w.state.store(raw(thread_state::watching), std::memory_order_seq_cst);  // before the reads below, as in park
    bool const stays = (visible_work() && n.thieves.load(std::memory_order_seq_cst) <= 0) || must_stay_awake();
    if (!stays) wait();  // ends at once if the thread was notified already: the source keeps that wake
    if (change(w, thread_state::watching, thread_state::awake)) {
      n.thieves.fetch_add(1, std::memory_order_relaxed);  // relaxed: as in start_searching
    } else {
      w.state.store(raw(thread_state::awake), std::memory_order_relaxed);  // relaxed: as in park. notify has counted the thief.
    }
    return !stays;
  }

  /// Wakes worker i's thread, which is a thief from then on. False: it was neither parked nor watching.
  bool notify(unsigned i) noexcept { return wake_parked(i) || wake_watching(i); }

  /// Worker i is about to offer work for `many` others. Wakes sleepers of its node until `many` search, at most `most` of one node; then
  /// those of the next nodes, for the part of `many` that exceeds the members so far. By that worker. O(workers).
  void wake_several(unsigned i, int many, int most) noexcept {
    unsigned const own = workers_[i].node_index;
    for (std::size_t k = 0; k < nodes_.size() && many > 0; ++k) {
      node_entry& n = nodes_[(own + k) % nodes_.size()];
      int const missing = many - n.thieves.load(std::memory_order_relaxed);  // relaxed: a hint
      for (int calls = missing < most ? missing : most; calls > 0 && wake_one(n); --calls) {
      }
      many -= static_cast<int>(n.members.size());
    }
  }

  // ---- What only one worker's thread may run.

  /// Something was pushed that only worker i's thread may run: wakes the thread, wherever it sleeps.
  void call(unsigned i) noexcept {
    worker_entry& w = workers_[i];
    if (notify(i) || !change(w, thread_state::dozing, thread_state::awake)) return;
    dozing_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as in doze
    Sync::wake(w.state);
  }
  /// Sleeps for at most so many nanoseconds, until must_wake() or a call. By worker i's own thread, which is no thief. False, and nothing
  /// has happened: all other workers doze, and none of them was called.
  template <class Predicate>
  bool doze(unsigned i, Predicate&& must_wake, std::int64_t nanoseconds) noexcept {
    // relaxed: a count on which no other word depends; the exchange keeps it below the number of workers. Read by an addition of 0, which
    // gets the latest number. A thread that calls another subtracts it at once, so that the caller does not count as dozing a thread that
    // is about to run.
    unsigned n;
    do {
      n = dozing_.fetch_add(0, std::memory_order_relaxed);
      if (n + 1 == workers_.size()) return false;
    } while (!dozing_.compare_exchange_weak(n, n + 1, std::memory_order_relaxed));
    worker_entry& w = workers_[i];
    w.state.store(raw(thread_state::dozing),
                  std::memory_order_seq_cst);  // before must_wake reads: pairs with the read of the state in call
    if (!must_wake()) Sync::wait_for(w.state, raw(thread_state::dozing), nanoseconds);
    if (change(w, thread_state::dozing, thread_state::awake)) dozing_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

  // ---- External callers.

  /// Takes worker i from its sleeping thread, with everything that belongs to the worker. False: the thread does not sleep, or another
  /// caller works in its place.
  bool occupy(unsigned i) noexcept { return change(workers_[i], thread_state::parked, thread_state::occupied); }
  /// Gives worker i back to its thread, and wakes that thread if park would not have slept. must_stay_awake(): as in park, for that thread.
  template <class Predicate>
  void vacate(unsigned i, Predicate&& must_stay_awake) noexcept {
    worker_entry& w = workers_[i];
    w.state.store(raw(thread_state::parked), std::memory_order_seq_cst);
    if ((visible_work() && nodes_[w.node_index].thieves.load(std::memory_order_seq_cst) <= 0) || must_stay_awake()) notify(i);
  }
  /// Number of workers that neither sleep, doze nor search, a moment ago. O(workers). relaxed: a hint.
  unsigned at_work() const noexcept {
    int n = 0;
    for (worker_entry const& w : workers_) {
      auto const s = static_cast<thread_state>(w.state.load(std::memory_order_relaxed));
      n += s != thread_state::parked && s != thread_state::dozing && s != thread_state::watching ? 1 : 0;
    }
    for (node_entry const& e : nodes_) n -= e.thieves.load(std::memory_order_relaxed);
    return n > 0 ? static_cast<unsigned>(n) : 0;
  }
  /// True if some thread searches or naps. relaxed, also below: hints.
  bool somebody_searches() const noexcept {
    for (node_entry const& n : nodes_)
      if (n.thieves.load(std::memory_order_relaxed) > 0) return true;  // relaxed: a hint
    return false;
  }
  bool is_parked(unsigned i) const noexcept { return workers_[i].state.load(std::memory_order_relaxed) == raw(thread_state::parked); }
  /// Parked, or waiting in the event source.
  bool is_asleep(unsigned i) const noexcept {
    std::uint32_t const s = workers_[i].state.load(std::memory_order_relaxed);
    return s == raw(thread_state::parked) || s == raw(thread_state::watching);
  }
  bool is_dozing(unsigned i) const noexcept { return workers_[i].state.load(std::memory_order_relaxed) == raw(thread_state::dozing); }

 private:
  using word = typename Sync::template atomic<std::uint32_t>;

  struct alignas(destructive_size) worker_entry {
    word state{raw(thread_state::awake)};
    unsigned node_index = 0;
  };
  struct alignas(destructive_size) node_entry {
    /// Threads of this node that search: never more than there are. notify counts a thread after it has changed the state, so the count may
    /// be too low for a moment, even negative. That costs a wake-up too many; a count too high could lose one.
    typename Sync::template atomic<int> thieves{0};
    std::vector<unsigned> members;
    node_entry() = default;
    node_entry(node_entry&& o) noexcept : members{std::move(o.members)} {}
  };

  static constexpr std::uint32_t raw(thread_state s) noexcept { return static_cast<std::uint32_t>(s); }

  static bool change(worker_entry& w, thread_state from, thread_state to) noexcept {
    std::uint32_t s = raw(from);
    // seq_cst: the read pairs with the store of `parked`, in park and vacate. acquire: a caller that occupies the worker sees what its last
    // owner wrote; the exchange continues that owner's release, so that the thread sees it too. relaxed: a failed exchange uses nothing of
    // the worker.
    return w.state.load(std::memory_order_seq_cst) == s &&
           w.state.compare_exchange_strong(s, raw(to), std::memory_order_acquire, std::memory_order_relaxed);
  }
  void wake_if_no_thief(node_entry& n) noexcept {
    if (n.thieves.load(std::memory_order_seq_cst) <= 0) wake_one(n);
  }
  // The watching thread is woken last: while it watches, events from outside are seen at once.
  bool wake_one(node_entry& n) noexcept {
    for (unsigned const i : n.members)
      if (wake_parked(i)) return true;
    if (source_ == nullptr) return false;
    for (unsigned const i : n.members)
      if (wake_watching(i)) return true;
    return false;
  }
  bool wake_parked(unsigned i) noexcept {
    worker_entry& w = workers_[i];
    if (!change(w, thread_state::parked, thread_state::notified)) return false;
    // Counted on the thread's behalf, so that no other is woken for the same work. relaxed: as in start_searching.
    nodes_[w.node_index].thieves.fetch_add(1, std::memory_order_relaxed);
    Sync::wake(w.state);
    return true;
  }
  bool wake_watching(unsigned i) noexcept {
    worker_entry& w = workers_[i];
    if (source_ == nullptr || !change(w, thread_state::watching, thread_state::notified)) return false;
    nodes_[w.node_index].thieves.fetch_add(1, std::memory_order_relaxed);  // relaxed: as in wake_parked
    source_->wake();
    return true;
  }

  std::vector<worker_entry> workers_;
  std::vector<node_entry> nodes_;
  Source* const source_;
  alignas(destructive_size) typename Sync::template atomic<unsigned> visible_work_{0};
  /// Threads that doze and were not called: fewer than all.
  alignas(destructive_size) typename Sync::template atomic<unsigned> dozing_{0};
};

using parking = basic_parking<>;

}  // namespace nopal::core
