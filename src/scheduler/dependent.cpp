#include "nopal/core/scheduler/dependent.hpp"
#include "nopal/core/scheduler/typed_job.hpp"

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Jobs with a callable.

// relaxed: this thread has given up the last share, and the count of shares orders it behind those who have let the exception go.
void any_result::end_if_lost(std::exception_ptr const& e, void const* function) const noexcept {
  if (!is_let_go_.load(std::memory_order_relaxed) && failed_with_ == nullptr) dropped_threw(e, function);
}

kept_job::~kept_job() = default;

rest_of_job::rest_of_job(job& r, fiber_values& values) noexcept : pool_{*r.pool}, region_{r.runs_in.region} {
  values_.take(values);
  worker& w = *current();
  w.region = region_;
  w.values = &values_;
  w.begin_without_tasks();  // a destructor is an ordinary function
}
rest_of_job::~rest_of_job() {
  current()->alarm = worker::no_alarm;
  end_of_job(values_);
  current()->values = nullptr;
  current()->region = no_region;
  drop_region(region_);
  pool_.pending.finished();
}

// What begins after the job is given to the pool where it has ended.
pending_where_it_ends<true>::pending_where_it_ends(job const& r) noexcept
    : pool_{&current()->pool() != r.pool ? &current()->pool() : nullptr} {
  if (pool_ != nullptr) pool_->pending.started();
}
pending_where_it_ends<true>::~pending_where_it_ends() {
  if (pool_ != nullptr) pool_->pending.finished();
}

void end_submitted(job& r, kept_job& k, completion& done) noexcept {
  end_of_job(k.values);
  rest_of_job const rest{r, k.values};
  auto const alive = std::move(k.self);  // until here the job keeps itself alive, also if the future is dropped
  done.set();
}

void detached_threw(std::exception_ptr const& e, void const* function) noexcept {
  if (is_stopped(e)) return;
  die_in(function, "an exception left a job that was given to pool::detach (%s); catch it there, or use pool::submit", message_of(e));
}

void dropped_threw(std::exception_ptr const& e, void const* function) noexcept {
  if (is_stopped(e)) return;
  die_in(
      function,
      "an exception left a job that was given to pool::submit (%s), and its future was destroyed before get(); call get(), which rethrows "
      "it, or catch it in the job",
      message_of(e));
}

// ---- What begins after others.

/// An entry in the list of one of the others.
struct dependent::link : counter_word::waiter {
  dependent* of = nullptr;
  predecessor other;
  std::exception_ptr copied;  // what a fiber of the counter has thrown

  bool wait() noexcept { return other.result != nullptr ? other.result->done.watch(*this) : other.counter->watch(*this); }
  std::exception_ptr thrown() const noexcept { return other.result != nullptr ? other.result->thrown() : copied; }
};

dependent::dependent(std::vector<predecessor>&& after, void (*begin)(dependent&) noexcept)
    : begin_{begin}, count_{after.size()}, links_{std::make_unique<link[]>(after.size())}, left_{after.size() + 1} {
  for (std::size_t k = 0; k < count_; ++k) {
    link& l = links_[k];
    l.of = this;
    l.told = ended;
    l.other = std::move(after[k]);
    if (l.other.counter != nullptr) l.copies_to = &l.copied;
  }
}
dependent::~dependent() = default;

void dependent::drop_others() noexcept { links_.reset(); }

void dependent::let_go() noexcept {
  if (used_ == nullptr) return;
  functions_at_base const destructors;
  used_ = nullptr;
}

bool dependent::enter() noexcept {
  for (std::size_t k = 0; k < count_; ++k) {
    link& l = links_[k];
    in_order();
    if (l.wait()) continue;
    if (l.other.counter != nullptr) l.copied = l.other.counter->copy_exception();
    left_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: this thread has yet to arrive, and that releases it
  }
  return arrive();
}

// waiting_stack::told: one of the others has ended. By the thread that has ended it, which holds no lock.
void dependent::ended(waiting_stack& l) noexcept {
  dependent& d = *static_cast<link&>(l).of;
  if (d.arrive()) d.begin_(d);
}

// True: all have ended, and the caller owns this. Else this may be gone.
bool dependent::arrive() noexcept {
  // acq_rel: each other, so that the last one sees the links as all others have left them
  if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  for (std::size_t k = 0; k < count_ && failure_ == nullptr; ++k) {
    failure_ = links_[k].thrown();
    if (failure_ != nullptr) failed_ = links_[k].other.result;
  }
  for (std::size_t k = 0; k < count_; ++k) {
    if (links_[k].other.is_used) used_ = std::move(links_[k].other.result);
  }
  return true;
}

waiting_job::waiting_job(std::vector<predecessor>&& after, job& waits) : dependent{std::move(after), begin}, job_{waits} {}

void waiting_job::begin(dependent& d) noexcept { submit_prepared(static_cast<waiting_job&>(d).job_); }

bool waiting_job::may_run(any_result& of) noexcept {
  {
    functions_at_base const destructors;
    drop_others();
  }
  current()->begin_strand_again();
  if (failure() == nullptr) return true;
  job_.error = failure();
  if (failed() != nullptr) of.fail_with(std::move(failed()));
  return false;
}

void submit_kept_after(pool_state* pool, pool_state& (*otherwise)(), region_id region, job& r, kept_job& k, waiting_job& w) {
  r.runs_in.region = region;
  prepare_to_submit(pool, r);
  if (!w.enter()) return;
  try {
    if (r.pool == nullptr && current_or_null() == nullptr) prepare_to_submit_to(otherwise(), r);
  } catch (...) {
    drop_region(r.runs_in.region);
    k.self = nullptr;
    throw;
  }
  submit_prepared(r);
}

std::vector<predecessor> only_after(std::shared_ptr<any_result> of) {
  std::vector<predecessor> after;
  after.push_back({std::move(of), nullptr, true});
  return after;
}

pool_state* pool_to_follow_in(any_result const& of) {
  if (of.ends_on_worker && !of.done.is_set()) return nullptr;
  worker* const w = current_or_null();
  return w != nullptr ? &w->pool() : &default_pool_state();
}

void waiting_fiber::begin_in(pool_state& pool, resumable& fiber) noexcept {
  pool_ = &pool;
  fiber_ = &fiber;
  pool.pending.started();
  pool.needs_threads();  // after that: see end_threads
  if (enter()) begin(*this);
}

void waiting_fiber::begin(dependent& d) noexcept {
  auto& self = static_cast<waiting_fiber&>(d);
  pool_state& pool = *self.pool_;
  worker* const w = current_or_null();
  if (w != nullptr && &w->pool() == &pool) {
    spawn_again(*w, *self.fiber_);
  } else {
    spawn_from_outside(pool, *self.fiber_);
  }
  pool.pending.finished();  // last: the fiber is counted by itself
}

bool waiting_fiber::may_run(bool is_counted) {
  drop_others();
  if (failure() == nullptr) return true;
  if (failed() != nullptr) {
    if (!is_counted) return false;  // the exception is lost where that result is
    failed()->let_exception_go();
  }
  std::rethrow_exception(failure());
}

}  // namespace nopal::core
