#pragma once

// Parking: who sleeps, who is woken, who lends its worker to a caller of pool::run. The adaptive scheduler of the paper's
// Section III-D: while there is demand, one thief per NUMA node stays awake; when there is none, all sleep and the pool
// uses no CPU. Why no wake-up is lost: README.md, "Parking".

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/base/sync.hpp"

namespace nopal::core {

/// What a worker's thread is doing, as far as others may change it.
enum class thread_state : std::uint32_t {
  awake,     ///< its own business
  parked,    ///< asleep, or about to be; others may notify or occupy it
  notified,  ///< told to get up
  occupied,  ///< asleep; an external caller works in its place
};

template <class Sync = std_sync>
class basic_parking {
 public:
  /// nodes[i] is the NUMA node of worker i, dense from 0.
  explicit basic_parking(std::span<unsigned const> nodes) : workers_(nodes.size()) {
    unsigned count = 0;
    for (unsigned const n : nodes) count = n + 1 > count ? n + 1 : count;
    nodes_ = std::vector<node>(count);
    for (unsigned i = 0; i < nodes.size(); ++i) {
      workers_[i].node = nodes[i];
      nodes_[nodes[i]].members.push_back(i);
    }
  }

  // ---- Demand: how many strands have offered work, and how many jobs lie in inboxes. Nonzero: somebody must be looking.

  bool visible_work() const noexcept { return visible_work_.load(std::memory_order_seq_cst) != 0; }

  /// A strand offers its first continuation: every node shall have a thief. seq_cst: before the look at `thieves` and `state`.
  void offer() noexcept {
    visible_work_.fetch_add(1, std::memory_order_seq_cst);
    for (node& n : nodes_) wake_if_no_thief(n);
  }
  /// A job was put into worker i's inbox (`before` the push: add; after it: announce).
  void add() noexcept { visible_work_.fetch_add(1, std::memory_order_seq_cst); }
  void announce(unsigned i) noexcept {
    if (nodes_[workers_[i].node].thieves.load(std::memory_order_seq_cst) > 0) return;  // it will find the job
    if (notify(i)) return;
    for (node& n : nodes_) {
      if (n.thieves.load(std::memory_order_seq_cst) > 0 || wake_one(n)) return;
    }
  }
  /// relaxed: taking demand away wakes nobody; a thief that still sees it looks once more.
  void retract(unsigned n = 1) noexcept { visible_work_.fetch_sub(n, std::memory_order_relaxed); }

  // ---- Thieves.

  /// relaxed: a count too low for a moment costs a wake-up too many, see node::thieves.
  void start_searching(unsigned i) noexcept { nodes_[workers_[i].node].thieves.fetch_add(1, std::memory_order_relaxed); }
  /// It found something. The last thief of a node leaves a successor while there is demand.
  void stop_searching(unsigned i) noexcept {
    node& n = nodes_[workers_[i].node];
    if (n.thieves.fetch_sub(1, std::memory_order_seq_cst) <= 1 && visible_work()) wake_one(n);
  }

  /// Sleeps, unless there is demand and no other thief in the node, or `must_stay()`. The caller is a thief before and after.
  /// True: it slept (and called `asleep` before), and another may have worked in its place.
  template <class Predicate, class Asleep = void (*)()>
  bool park(unsigned i, Predicate&& must_stay, Asleep&& asleep = [] {}) noexcept {
    per_worker& c = workers_[i];
    node& n = nodes_[c.node];
    n.thieves.fetch_sub(1, std::memory_order_seq_cst);
    c.state.store(raw(thread_state::parked), std::memory_order_seq_cst);  // before the looks below; releases the worker to a borrower
    if ((visible_work() && n.thieves.load(std::memory_order_seq_cst) <= 0) || must_stay()) {
      if (change(c, thread_state::parked, thread_state::awake)) {
        n.thieves.fetch_add(1, std::memory_order_relaxed);  // relaxed: as in start_searching
        return false;
      }  // else somebody notified or borrowed this worker meanwhile
    }
    asleep();
    for (;;) {
      std::uint32_t const s = c.state.load(std::memory_order_acquire);  // acquire: pairs with notify, and through it with a borrower
      if (s == raw(thread_state::notified)) break;
      Sync::wait(c.state, s);
    }
    c.state.store(raw(thread_state::awake), std::memory_order_relaxed);  // relaxed: nobody changes a notified seat; notify counted the thief
    return true;
  }

  /// Gets worker i's thread up. False: it was not parked.
  bool notify(unsigned i) noexcept {
    per_worker& c = workers_[i];
    if (!change(c, thread_state::parked, thread_state::notified)) return false;
    // On its behalf, so that nobody else is woken for the same; relaxed: as in start_searching.
    nodes_[c.node].thieves.fetch_add(1, std::memory_order_relaxed);
    Sync::wake(c.state);
    return true;
  }

  // ---- Lending.

  /// Takes worker i from its sleeping thread. False: it does not sleep.
  bool occupy(unsigned i) noexcept { return change(workers_[i], thread_state::parked, thread_state::occupied); }
  /// Gives it back; `must_stay()` as in park, seen from its thread.
  template <class Predicate>
  void vacate(unsigned i, Predicate&& must_stay) noexcept {
    per_worker& c = workers_[i];
    c.state.store(raw(thread_state::parked), std::memory_order_seq_cst);
    if ((visible_work() && nodes_[c.node].thieves.load(std::memory_order_seq_cst) <= 0) || must_stay()) notify(i);
  }
  bool is_parked(unsigned i) const noexcept { return workers_[i].state.load(std::memory_order_relaxed) == raw(thread_state::parked); }

 private:
  using word = typename Sync::template atomic<std::uint32_t>;

  struct alignas(destructive_size) per_worker {
    word state{raw(thread_state::awake)};
    unsigned node = 0;
  };
  struct alignas(destructive_size) node {
    /// Never more than there are: whoever is notified is counted after it was told, so the count may be too low for a moment, even
    /// negative. That costs a wake-up too many; a count too high could lose one.
    typename Sync::template atomic<int> thieves{0};
    std::vector<unsigned> members;
    node() = default;
    node(node&& o) noexcept : members{std::move(o.members)} {}
  };

  static constexpr std::uint32_t raw(thread_state s) noexcept { return static_cast<std::uint32_t>(s); }

  static bool change(per_worker& c, thread_state from, thread_state to) noexcept {
    std::uint32_t s = raw(from);
    // seq_cst: the look at the seat. acquire: a borrower gets what the last user wrote; the exchange continues his release.
    return c.state.load(std::memory_order_seq_cst) == s &&
           c.state.compare_exchange_strong(s, raw(to), std::memory_order_acquire, std::memory_order_relaxed);
  }
  void wake_if_no_thief(node& n) noexcept {
    if (n.thieves.load(std::memory_order_seq_cst) <= 0) wake_one(n);
  }
  bool wake_one(node& n) noexcept {
    for (unsigned const i : n.members)
      if (notify(i)) return true;
    return false;
  }

  std::vector<per_worker> workers_;
  std::vector<node> nodes_;
  alignas(destructive_size) typename Sync::template atomic<unsigned> visible_work_{0};
};

using parking = basic_parking<>;

}  // namespace nopal::core
