// What a flow does where tickets are stolen, where something is thrown, and at its end.

#include "nopal/core/pipeline/flow.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/loop/offer.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/stack/home.hpp"
#include "nopal/core/stack/join_wait.hpp"
#include "nopal/core/stack/native_fork.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

// relaxed: no other thread knows of the flow.
void flow::begin() noexcept {
  let_due_run_between_blocks();
  worker const& w = *current();
  alone_ = w.pool().size() == 1;
  has_own_clock_ = w.pool().has_own_clock && !alone_;
  may_wait_ = !alone_ && !w.pool().takes_turns;
  region_ = region_to_hand_over();
  mode_ = control_words::now();
  way_.inherit({{mode_, region_}, values_here()});
  holds_.store(1 + most_offers_, std::memory_order_relaxed);
  carrying_.store(1, std::memory_order_relaxed);
}

// acq_rel: release, so that the last carrier hands all to the caller; acquire, for that one. Pairs with itself. It is the last access of the
// flow by all carriers but the last.
bool flow::leave() noexcept {
  std::int64_t const mine = 1 + most_offers_;
  return holds_.fetch_sub(mine, std::memory_order_acq_rel) == mine;
}

// If others still carry, a ticket was stolen from the caller, and with it all that was older: its deque is empty.
void flow::end() noexcept {
  carrying_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a hint
  if (leave()) return;
  wait_at_join(join_, 1, waiting_);
  current()->work.request();  // as polled_fork_ended
}

// A thief carries at the base of a stack, as it runs a stolen branch. Once the ticket is not out any more, another carrier may offer it.
void flow::run_stolen(resumable& r, worker& w) noexcept {
  auto& t = static_cast<ticket&>(r);
  flow& f = t.of;
  strand_context const in = t.inherited();
  t.is_out.taken();
  if (in.mode != f.mode_) die_of_mode();
  tell::strand_begins(w, strand_kind::branch, f.carry_);
  w.adopt(in);
  w.region = f.region_;
  w.begin_strand();
  w.begin_without_tasks();
  w.begin_child_of(&f.join_);
  std::uintptr_t const below = std::exchange(w.here->origin, reinterpret_cast<std::uintptr_t>(&f));  // on the caller's stack
  f.holds_.fetch_add(f.most_offers_, std::memory_order_relaxed);  // relaxed: the carrier from which the ticket was stolen has a hold for it
  f.carrying_.fetch_add(1, std::memory_order_relaxed);            // relaxed: a hint
  f.carry_(f, false);
  f.carrying_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a hint
  current()->here->origin = below;
  current()->end_strand();
  tell::must_come_in_order(*current());
  if (f.leave() && f.join_.arrive()) resume(f.waiting_);
}

// A carrier that is not the caller's ends, and its ticket waits behind what waits now. The caller yields, so that it needs no other carrier:
// then the others may end without a ticket.
bool flow::makes_way(bool is_caller, std::uint64_t& since, line* free) noexcept {
  worker& w = *current();
  bool const own_waits = !w.own.empty() || w.search.own != nullptr || some_await_turn(w);
  if (!own_waits && w.ready.empty() && w.open.empty()) {
    since = 0;
    return false;
  }
  if (!w.pool().takes_turns) {  // under a controlled schedule no clock decides
    std::uint64_t const now = waiting_ticks();
    if (since == 0) since = now;
    if (static_cast<double>(now - since) < tuning::pipeline_turn / 1000.0 * ticks_per_microsecond()) return false;
    since = 0;
  }
  if (is_caller) {
    // On such a stack a yield is a short sleep. Other workers take what is not this one's own.
    if (waits_on_top(w, nullptr) && !own_waits) return false;
    bool const alone_away = way_.is_out.claim();
    static_cast<void>(yield_stack());
    if (alone_away) way_.is_out.taken();
    return false;
  }
  if (free != nullptr) source_.put(*free, alone_);
  if (way_.is_out.claim()) {
    holds_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the carrier has a hold of its own
    inject(w.pool(), way_, w.index());
  }
  return true;
}

namespace {

double ticks_in(std::int64_t nanoseconds) noexcept { return static_cast<double>(nanoseconds) / 1000 * ticks_per_microsecond(); }

}  // namespace

// relaxed, here and in what follows: hints, which order nothing. What can be done is found by the carrier, afterwards.
std::uint64_t flow::trial::items(flow const& f) noexcept {
  f.in_simulated_order();  // else it would count what comes later, by carriers whose clocks are ahead
  return f.next_item_.load(std::memory_order_relaxed);
}

void flow::trial::begin(flow const& f, std::int64_t nanoseconds) noexcept {
  left_ = tuning::pipeline_items_untimed;
  lasts_ = ticks_in(nanoseconds);
  from_ = items(f);
  since_ = waiting_ticks();
}

double flow::trial::rate(flow const& f, std::uint64_t now) const noexcept {
  return static_cast<double>(items(f) - from_) / static_cast<double>(now - since_);
}

line* flow::trial::see(flow& f, line* free) noexcept {
  left_ = tuning::pipeline_items_untimed;
  std::uint64_t const now = waiting_ticks();
  if (static_cast<double>(now - since_) < lasts_) return free;
  double const with = rate(f, now);
  bool helps = false;
  if (with * ticks_in(tuning::pipeline_trial) >= tuning::pipeline_trial_items && f.one_carries_less()) {
    if (free != nullptr) f.source_.put(*free, f.alone_);
    free = nullptr;
    helps = looks_on(f, with);
    f.carrying_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a hint
  }
  begin(f, helps ? tuning::pipeline_trial_again : tuning::pipeline_trial);
  return free;
}

// True: fewer items come than with it. relaxed: a hint.
bool flow::trial::looks_on(flow const& f, double with) noexcept {
  std::uint64_t const began = waiting_ticks();
  for (std::uint64_t now = began; static_cast<double>(now - began) < ticks_in(tuning::pipeline_trial_again);) {
    bool const is_first = now == began;
    begin(f, tuning::pipeline_trial);
    while (static_cast<double>((now = waiting_ticks()) - since_) < lasts_) {
      if (f.is_closed_.load(std::memory_order_relaxed) || others_wait()) return false;
      std_sync::relax();
      poll();
    }
    if (rate(f, now) < with) return is_first;
  }
  return false;
}

// True: the caller carries no more, and another carrier does. relaxed: the number alone decides, and orders nothing.
bool flow::one_carries_less() noexcept {
  unsigned n = carrying_.load(std::memory_order_relaxed);
  while (n > 1) {
    if (carrying_.compare_exchange_weak(n, n - 1, std::memory_order_relaxed)) return true;
  }
  return false;
}

void flow::poll_slowly() noexcept { current()->work.empty() ? let_due_run() : answer_request(); }

void flow::offered::begin_without() noexcept {
  state_ = refused;
  poll();
}

void flow::offered::begin_slowly() noexcept {
  worker& w = *current();
  if (!may_fork_natively(w)) {
    ticket_->is_out.taken_back(true);
    state_ = refused;
    return;
  }
  state_ = polled;
  limit_ = w.work.limit();
  make_offer(w, continuation{*ticket_});
  poll_natively();
}

// The pop failed, or there was a poll, or nothing was offered. The hold that the carrier had for the ticket is the thief's.
void flow::offered::end_slowly(flow& f, bool owns_line) noexcept {
  if (state_ == refused) return;
  worker& w = *current();
  if ((state_ == polled && core::take_back(w)) || w.work.pop_slow(w.floor())) {
    ticket_->is_out.taken_back(owns_line);
  } else {
    w.work.rewind();                                   // the ticket was stolen, and with it all older entries
    f.holds_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the carrier has a hold of its own
  }
  if (state_ == polled) {
    w.work.set_limit_back(limit_);
    polled_fork_ended();
  }
}

void flow::failed(std::uint64_t item) noexcept {
  std::exception_ptr e = caught();
  lock_.lock();
  if (!is_over(item)) {
    end_.store(item, std::memory_order_relaxed);  // relaxed: see is_over
    std::swap(error_, e);
  }
  lock_.unlock();
}

void reject_tokens(long long tokens) {
  throw std::invalid_argument{"nopal::pipeline: tokens{" + std::to_string(tokens) +
                              "} lets no item in; at least 1 is needed: give as many as may be in the pipeline at once"};
}

}  // namespace nopal::core
