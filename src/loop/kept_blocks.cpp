#include "nopal/core/loop/kept_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/loop/offer.hpp"
#include "nopal/core/loop/pace.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A round is one loop. Each worker's list is a part of order_, and a counter says how many of it were taken: any worker adds one and has
/// that block. So each block is taken once, whoever comes to which list.
///
/// A ticket in a worker's inbox lets whoever takes it help. The caller waits for those that have begun to help, not for tickets: when it has
/// found no block it closes the door, through which a helper comes in while it is open. A ticket that is taken later finds it closed, or
/// open again for the next round, and is not given again before that. So it may outlive the loop and the affinity: it has a share in this.
class kept_blocks {
 public:
  kept_blocks(pool_state const& pool, std::uint64_t count)
      : of_{pool},
        count_{count},
        workers_{pool.size()},
        owner_(static_cast<std::size_t>(std::min<std::uint64_t>(count, std::uint64_t{tuning::kept_blocks} * pool.size()))),
        order_(owner_.size()),
        first_(workers_ + 1),
        taken_{std::make_unique<counter[]>(workers_)},
        tickets_{std::make_unique<ticket[]>(workers_)} {
    for (std::uint64_t k = 0; k < owner_.size(); ++k) owner_[k] = static_cast<std::uint32_t>(k * workers_ / owner_.size());
  }

  bool is_for(pool_state const& pool, std::uint64_t count) const noexcept {
    return &of_ == &pool && count_ == count && workers_ == pool.size();
  }

  void run(void (*f)(void*, std::uint64_t, std::uint64_t), void* body) {
    sort();
    run_ = f;
    body_ = body;
    mode_.store();
    region_ = region_to_hand_over();
    values_ = values_here();
    event done;
    done_ = &done;
    end_.store(static_cast<std::uint32_t>(owner_.size()), std::memory_order_relaxed);  // relaxed: the next line releases it
    door_.store(open, std::memory_order_release);                                      // release: pairs with come_in, for all above
    give_tickets();
    help();
    // acq_rel: acquire, what helpers have written that have left; release: pairs with the last of the others
    if (door_.fetch_and(~open, std::memory_order_acq_rel) != open)
      wait_on_worker(*current(), done, {"the blocks of a loop", nullptr, wait_kind::join}, this);
    if (std::exception_ptr const e = std::exchange(error_, nullptr); e != nullptr) std::rethrow_exception(e);
  }

  /// Gives up a share; the last one deletes it. acq_rel: each other, so that all uses come before the end.
  void drop() noexcept {
    if (shares_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~kept_blocks() = default;
  struct alignas(destructive_size) counter {
    std::atomic<std::uint32_t> n{0};
  };
  /// Lets a worker help. Whichever takes it runs its own list first.
  struct ticket : resumable {
    kept_blocks* of = nullptr;
    std::atomic<bool> is_out{false};
  };
  static constexpr std::uint32_t open = 1;  // of door_
  static constexpr std::uint32_t one = 2;   // a helper that has come in

  // The lists of this round, from what each worker had in the last.
  void sort() noexcept {
    std::ranges::fill(first_, 0U);
    for (std::uint32_t const w : owner_) ++first_[w + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    for (unsigned w = 0; w < workers_; ++w) taken_[w].n.store(0, std::memory_order_relaxed);  // relaxed: as in run
    for (std::uint32_t k = 0; k < owner_.size(); ++k) {
      std::atomic<std::uint32_t>& n = taken_[owner_[k]].n;
      std::uint32_t const at = n.load(std::memory_order_relaxed);  // relaxed, all: no other thread knows of this round
      order_[first_[owner_[k]] + at] = k;
      n.store(at + 1, std::memory_order_relaxed);
    }
    for (unsigned w = 0; w < workers_; ++w) taken_[w].n.store(0, std::memory_order_relaxed);
  }

  // Each other worker that has a list is woken for it, though a thief may take its ticket first. The pool's end waits for tickets as for
  // fibers.
  void give_tickets() noexcept {
    worker& w = *current();
    pool_state& pool = w.pool();
    for (unsigned i = 0; pool.steals && i < workers_; ++i) {
      ticket& t = tickets_[i];
      // acquire: pairs with begin_to_help, since the queue that had the ticket has written into it
      if (i == w.index() || first_[i] == first_[i + 1] || t.is_out.exchange(true, std::memory_order_acquire)) continue;
      t.run = begin_to_help;
      t.of = this;
      shares_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller has a share
      w.count.add(counted::fibers_spawned);             // before it can finish: see wait_for_all
      if (given_by_priority(pool, t, region_, i)) continue;
      inject(pool, t, i);
      pool.parking.notify(i);
    }
  }

  static void begin_to_help(resumable& r, worker& w) noexcept {
    auto& t = static_cast<ticket&>(r);
    kept_blocks& self = *t.of;
    t.is_out.store(false, std::memory_order_release);  // release: pairs with give_tickets
    if (self.come_in()) {
      self.mode_.adopt();
      w.begin_job();
      w.begin_child_of(&self);
      w.region = self.region_;
      w.values = self.values_;
      held_mutexes const mutexes{*w.here};
      self.help();
      mutexes.check(*current()->here, "a block of a loop");
      // acq_rel: release, what the blocks have written, to the caller; acquire, for the last one, which hands on what the others have
      event* const done = self.door_.fetch_sub(one, std::memory_order_acq_rel) == one ? self.done_ : nullptr;
      current()->end_job();
      if (done != nullptr) done->set();
    }
    self.drop();
    current()->count.add(counted::fibers_finished, std::memory_order_release);  // release: pairs with wait_for_all
  }
  // acquire: pairs with the store in run, for the round.
  bool come_in() noexcept {
    std::uint32_t d = door_.load(std::memory_order_relaxed);  // relaxed: the exchange checks it
    while ((d & open) != 0) {
      if (door_.compare_exchange_weak(d, d + one, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    }
    return false;
  }

  // Runs blocks as long as there are some. Another worker may run the caller after each.
  void help() noexcept {
    for (;;) {
      unsigned const me = current()->index();
      std::uint32_t k = 0;
      unsigned of = 0;
      while (of < workers_ && !take((me + of) % workers_, k)) ++of;
      if (of == workers_) return;
      owner_[k] = me;
      if (k <= end_.load(std::memory_order_relaxed)) run_one(k);  // relaxed: a hint; who misses it runs a block in vain
      let_due_run_between_blocks();
    }
  }
  bool take(unsigned i, std::uint32_t& k) noexcept {
    std::uint32_t const n = first_[i + 1] - first_[i];
    std::atomic<std::uint32_t>& taken = taken_[i].n;
    // relaxed, both: the count alone decides who has a block, and what is in the lists was there before the round
    if (taken.load(std::memory_order_relaxed) >= n) return false;
    std::uint32_t const at = taken.fetch_add(1, std::memory_order_relaxed);
    if (at >= n) return false;
    k = order_[first_[i] + at];
    return true;
  }
  // Block k begins at k·count/blocks: the remainder is spread, and nothing overflows.
  std::uint64_t begin_of(std::uint64_t k) const noexcept {
    std::uint64_t const n = owner_.size();
    return k * (count_ / n) + std::min(k, count_ % n);
  }
  void run_one(std::uint32_t k) noexcept {
    try {
      throw_if_stopped();
      run_(body_, begin_of(k), begin_of(k + 1));
    } catch (...) {
      failed(k, caught());
    }
  }
  void failed(std::uint32_t k, std::exception_ptr e) noexcept {
    lock_.lock();
    if (error_ == nullptr || k < failed_at_) {
      std::swap(error_, e);  // the other one ends without the lock
      failed_at_ = k;
      end_.store(k, std::memory_order_relaxed);  // relaxed: a hint, see help
    }
    lock_.unlock();
  }
  pool_state const& of_;  // never followed: that pool may be gone
  std::uint64_t const count_;
  unsigned const workers_;
  std::vector<std::uint32_t> owner_;  // by block: the worker that ran it last. Written by that one, read between rounds
  std::vector<std::uint32_t> order_;  // blocks by owner
  std::vector<std::uint32_t> first_;  // by worker: where its list begins
  std::unique_ptr<counter[]> const taken_;
  std::unique_ptr<ticket[]> const tickets_;

  // Of the present round.
  void (*run_)(void*, std::uint64_t, std::uint64_t) = nullptr;
  void* body_ = nullptr;
  stored_control_words mode_{};
  region_id region_ = no_region;
  fiber_values* values_ = nullptr;
  event* done_ = nullptr;
  std::atomic<std::uint32_t> end_{0};                             // blocks behind this one do not begin any more
  alignas(destructive_size) std::atomic<std::uint32_t> door_{0};  // `open`, and `one` for each helper that is in
  std::atomic<std::uint32_t> shares_{1};                          // tickets that are out or have not ended, and the affinity
  basic_spin_lock<std_sync> lock_;
  // Under the lock.
  std::exception_ptr error_;
  std::uint32_t failed_at_ = 0;  // the block that has thrown it
};

void kept_blocks_delete::operator()(kept_blocks* k) const noexcept { k->drop(); }

void run_kept_blocks(kept_blocks_ptr& keep, std::uint64_t count, void (*run)(void*, std::uint64_t, std::uint64_t), void* body) {
  if (count == 0) return;
  if (current_or_null() == nullptr) return run_in_default_pool([&] { run_kept_blocks(keep, count, run, body); });
  pool_state const& pool = current()->pool();
  if (keep == nullptr || !keep->is_for(pool, count)) keep.reset(new kept_blocks{pool, count});
  keep->run(run, body);
}

}  // namespace nopal::core
