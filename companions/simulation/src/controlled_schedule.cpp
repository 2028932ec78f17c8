#include "simulation/src/controlled_schedule.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "nopal/core/architecture/machine_word.hpp"
#include "nopal/core/base/random.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "simulation/src/clock.hpp"
#include "simulation/src/interruption.hpp"
#include "simulation/src/schedule_log.hpp"

namespace nopal::inline NOPAL_ABI::core {

// The waits of a worker in the library. The worker that it waits for does not have the turn: so it makes way, and looks again when it has
// the turn again. If no other worker can run, what it waits for comes from outside the pool, and it waits as any thread does. Time is the
// machine's.
class controlled_schedule::own_time final : public virtual_time {
 public:
  own_time(controlled_schedule& of, unsigned i) noexcept : of_{of}, i_{i} {}
  std::int64_t now() noexcept override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void relax() noexcept override { cpu_relax(); }
  void yield() noexcept override {
    if (!of_.make_way(i_)) ::sched_yield();
  }
  void sleep(std::int64_t nanoseconds) noexcept override {
    if (of_.make_way(i_)) return;
    timespec const t{static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
    ::nanosleep(&t, nullptr);
  }
  void wait(std::atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t nanoseconds) noexcept override {
    // seq_cst: pairs with the store before a wake; the kernel reads it again
    if (a.load(std::memory_order_seq_cst) != expected || of_.make_way(i_)) return;
    constexpr std::int64_t a_while = tuning::until_rest * std::int64_t{1'000'000};  // then others of the pool may have something to do
    sleep_on(a, expected, nanoseconds < 0 ? a_while : std::min(nanoseconds, a_while));
  }
  void interrupted(bool, bool) noexcept override {}
  void come_in_order() noexcept override {}

 private:
  controlled_schedule& of_;
  unsigned const i_;
};

controlled_schedule::controlled_schedule(schedule_choice how, unsigned workers) : choice_{std::move(how)}, workers_(workers) {
  for (unsigned i = 0; i < workers; ++i) workers_[i].time = std::make_unique<own_time>(*this, i);
  if (choice_.how != schedule::by_priority) return;
  rng random{choice_.seed};
  priorities_.resize(workers);
  std::iota(priorities_.begin(), priorities_.end(), static_cast<std::int64_t>(choice_.depth));
  std::shuffle(priorities_.begin(), priorities_.end(), random);
  for (std::uint64_t k = 1; k < choice_.depth; ++k) change_points_.push_back(random() % choice_.steps);
}

controlled_schedule::~controlled_schedule() = default;

// The first worker after `from`, in a circle, for which accept(its state) is true; no_worker if there is none.
template <class Accept>
unsigned controlled_schedule::first_after(unsigned from, Accept accept) const noexcept {
  auto const n = static_cast<unsigned>(workers_.size());
  for (unsigned k = 1; k <= n; ++k) {
    if (unsigned const i = from == no_worker ? k - 1 : (from + k) % n; i != from && accept(workers_[i])) return i;
  }
  return no_worker;
}

// Draws one of the accepted workers other than `from`, one time in `one_in`; else returns no_worker. The result depends on the seed and the
// number of the decision alone: so a run without some of the decisions can be repeated.
template <class Accept>
unsigned controlled_schedule::draw(std::uint64_t at, unsigned one_in, unsigned from, Accept accept) const noexcept {
  rng random{choice_.seed, at};
  unsigned count = 0;
  for (unsigned k = 0; k < workers_.size(); ++k) count += k != from && accept(workers_[k]);
  if (random() % one_in != 0 || count == 0) return no_worker;
  auto left = static_cast<unsigned>(random() % count);
  for (unsigned k = 0;; ++k) {
    if (k != from && accept(workers_[k]) && left-- == 0) return k;
  }
}

// The worker of the highest priority among the accepted ones and, if `may_stay`, `from`; no_worker if that is `from`. At a change point
// `from` first falls behind all.
template <class Accept>
unsigned controlled_schedule::highest(std::uint64_t at, unsigned from, bool may_stay, Accept accept) noexcept {
  for (std::size_t k = 0; k < change_points_.size(); ++k) {
    if (change_points_[k] == at && from != no_worker) priorities_[from] = static_cast<std::int64_t>(k);  // below `depth`, where all began
  }
  unsigned best = may_stay ? from : no_worker;
  for (unsigned k = 0; k < workers_.size(); ++k) {
    if (k != from && accept(workers_[k]) && (best == no_worker || priorities_[k] > priorities_[best])) best = k;
  }
  return best == from ? no_worker : best;
}

// The worker that the list names for this decision, if it is accepted; else `otherwise`.
template <class Accept>
unsigned controlled_schedule::listed(std::uint64_t at, unsigned from, unsigned otherwise, Accept accept) const noexcept {
  for (listed_decision const& d : choice_.list) {
    if (d.pool == choice_.pool && d.at == at && d.to < workers_.size() && d.to != from && accept(workers_[d.to])) return d.to;
  }
  return otherwise;
}

// The next decision: returns the worker that gets the turn of `from`; no_worker: none. `one_in`: 0 if `from` cannot continue, so that
// another must get the turn, if one is accepted. `what`: for the log.
template <class Accept>
unsigned controlled_schedule::decide(char what, unsigned from, unsigned one_in, Accept accept, stack const* left) noexcept {
  std::uint64_t const at = decisions_++;
  unsigned const usual = one_in == 0 ? first_after(from, accept) : no_worker;
  unsigned const to = choice_.only_listed                    ? listed(at, from, usual, accept)
                      : choice_.how == schedule::by_priority ? highest(at, from, one_in != 0, accept)
                                                             : draw(at, std::max(one_in, 1U), from, accept);
  if (to != usual) log_decision({choice_.pool, at, to}, what, from, left);
  return to;
}

// Gives the turn to `to`; no_worker: all are idle.
void controlled_schedule::give(unsigned to) noexcept {
  holder_ = to;
  ++given_;
  if (to == no_worker) {
    rest_.notify_all();
  } else {
    worker_state& its = workers_[to];
    if (its.thread != 0) its.used_at_turn = stopwatch::used(its.cpu_time);
    its.given.notify_one();
  }
}

// Gives the turn to another, and waits to get it back.
void controlled_schedule::pass(lock& guard, unsigned from, unsigned to) noexcept {
  give(to);
  wait(guard, from);
}

// Waits until worker i has the turn. The holder may never reach a decision, if it waits for this worker in a way that we do not see. So if
// the turn has not changed for tuning::undecided, worker i takes it: at once if it may find something, else after a few such times. The
// former holder runs on, and waits at its next decision. A holder that only gets no CPU keeps its turn.
void controlled_schedule::wait(lock& guard, unsigned i) noexcept {
  worker_state& mine = workers_[i];
  for (unsigned in_vain = 0; holder_ != i && !ended_;) {
    std::uint64_t const before = given_;
    bool const in_time = mine.given.wait_for(guard, std::chrono::milliseconds{tuning::undecided}) == std::cv_status::no_timeout;
    bool const stands = !in_time && given_ == before && holder_ != no_worker && holder_is_slow(guard);
    in_vain = stands ? in_vain + 1 : 0;
    if (in_vain < (may_find(mine) ? 1 : tuning::longer_without_news)) continue;
    ++lost_;
    give(i);
  }
  mine.idle = false;
  mine.seen = news_;
}

// Releases the lock during the look, since the holder may sleep on that lock.
bool controlled_schedule::holder_sleeps(lock& guard) noexcept {
  std::uint64_t const before = given_;
  int const thread = workers_[holder_].thread;
  guard.unlock();
  bool const asleep = is_asleep(thread);
  guard.lock();
  return asleep && given_ == before;
}

// True if the worker that has the turn has used as much CPU time as a turn may take, or sleeps. False: other threads keep it from running,
// and it will reach its decision.
bool controlled_schedule::holder_is_slow(lock& guard) noexcept {
  worker_state const& its = workers_[holder_];
  if (its.thread == 0) return ++looks_at_unbegun_ % tuning::looks_at_unbegun == 0;
  return stopwatch::used(its.cpu_time) - its.used_at_turn >= tuning::turn_of_cpu_time || holder_sleeps(guard);
}

// The CPU time, in nanoseconds, of the threads that have begun.
std::int64_t controlled_schedule::used_by_all() const noexcept {
  std::int64_t sum = 0;
  for (worker_state const& s : workers_) sum += s.thread == 0 ? 0 : stopwatch::used(s.cpu_time);
  return sum;
}

void controlled_schedule::thread_begins(unsigned i) noexcept {
  lock guard{mutex_};
  worker_state& mine = workers_[i];
  ::pthread_getcpuclockid(::pthread_self(), &mine.cpu_time);
  mine.thread = static_cast<int>(::syscall(SYS_gettid));
  virtual_time::set_here(mine.time.get());
  wait(guard, i);
}

void controlled_schedule::thread_ends(unsigned) noexcept { virtual_time::set_here(nullptr); }

// By priorities, a worker that makes way falls behind all others: else two that wait would give the turn to each other for ever.
bool controlled_schedule::make_way(unsigned i) noexcept {
  if (must_go_on(i)) return false;
  lock guard{mutex_};
  wait(guard, i);
  auto const accept = [this](worker_state const& s) { return may_find(s); };
  if (ended_ || first_after(i, accept) == no_worker) return false;
  unsigned const to = decide('y', i, 0, accept);
  if (choice_.how == schedule::by_priority && !choice_.only_listed) priorities_[i] = --lowest_;
  pass(guard, i, to);
  return true;
}

bool controlled_schedule::offered(unsigned i) noexcept {
  if (must_go_on(i)) {
    something_new();
    return true;
  }
  lock guard{mutex_};
  wait(guard, i);
  ++news_;
  unsigned to = no_worker;
  std::uint64_t const at = decisions_;
  switch (choice_.how) {
    case schedule::free:
    case schedule::steal_never: return false;
    case schedule::steal_always: to = decide('f', i, 1, [](worker_state const& s) { return s.idle; }); break;
    case schedule::steal_at_random:
    case schedule::by_priority: to = decide('f', i, 3, [](worker_state const&) { return true; }); break;
  }
  if (to != no_worker) {
    if (workers_[to].idle) workers_[to].victim = i;
    pass(guard, i, to);
  }
  return choice_.how != schedule::steal_at_random || rng{choice_.seed, ~at}() % 8 != 0;
}

void controlled_schedule::may_come_later(unsigned i, stack const* left) noexcept {
  lock guard{mutex_};
  wait(guard, i);
  if (choice_.how != schedule::steal_at_random && choice_.how != schedule::by_priority) return;
  char const what = left != nullptr ? 'w' : 's';
  if (unsigned const to = decide(what, i, 4, [this](worker_state const& s) { return may_find(s); }, left); to != no_worker)
    pass(guard, i, to);
}

void controlled_schedule::found_nothing(unsigned i) noexcept {
  lock guard{mutex_};
  worker_state& mine = workers_[i];
  if (holder_ == i && mine.seen != news_) {  // something is newer than its search: it searches again
    mine.seen = news_;
    return;
  }
  mine.idle = true;
  if (holder_ == i) give(decide('i', i, 0, [this](worker_state const& s) { return may_find(s); }));
  wait(guard, i);
}

unsigned controlled_schedule::victim(unsigned i) noexcept {
  std::lock_guard const guard{mutex_};
  return std::exchange(workers_[i].victim, no_worker);
}

// The limit is CPU time, unless the worker that has the turn sleeps: so a loaded machine does not change the order.
void controlled_schedule::settle() noexcept {
  lock guard{mutex_};
  if (holder_ == no_worker || ended_) return;
  constexpr std::chrono::milliseconds a_while{tuning::until_rest};
  std::int64_t const began = used_by_all();
  while (!rest_.wait_for(guard, a_while, [this] { return holder_ == no_worker || ended_; })) {
    if (used_by_all() - began < std::chrono::nanoseconds{a_while}.count() && !holder_sleeps(guard)) continue;
    if (holder_ != no_worker) ++lost_;
    return;
  }
}

void controlled_schedule::something_new() noexcept {
  std::lock_guard const guard{mutex_};
  ++news_;
  if (holder_ == no_worker) give(decide('n', no_worker, 0, [](worker_state const&) { return true; }));
}

void controlled_schedule::pool_ends() noexcept {
  std::lock_guard const guard{mutex_};
  ended_ = true;
  log_end(choice_, static_cast<unsigned>(workers_.size()), decisions_, lost_);
  for (worker_state& s : workers_) s.given.notify_one();
  rest_.notify_all();
}

void controlled_schedule::pool_begins_again() noexcept {
  std::lock_guard const guard{mutex_};
  ended_ = false;
  holder_ = no_worker;
  for (worker_state& s : workers_) {
    s.idle = true;
    s.thread = 0;
  }
}

bool controlled_schedule::at_rest() const noexcept {
  std::lock_guard const guard{mutex_};
  return holder_ == no_worker;
}

std::uint64_t controlled_schedule::lost_turns() const noexcept {
  std::lock_guard const guard{mutex_};
  return lost_;
}

}  // namespace nopal::core
