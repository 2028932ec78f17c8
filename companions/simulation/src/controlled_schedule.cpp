#include "simulation/src/controlled_schedule.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "base/open_file.hpp"
#include "base/read_text.hpp"
#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/process.hpp"
#include "nopal/core/base/random.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack.hpp"
#include "report/place.hpp"
#include "simulation/src/interruption.hpp"

// Not in programs that are linked statically.
#pragma weak dladdr

namespace nopal::inline NOPAL_ABI::core {

namespace {

// ---- The choice.

std::atomic<unsigned> controlled_pools{0};  // pools with a schedule from the environment

/// "12>1": decision 12 of the first pool; "2.12>1": of the third.
bool read(std::string_view text, listed_decision& d) noexcept {
  std::string_view at = take_until(text, '>');
  d.pool = 0;
  if (at.find('.') != at.npos && !read_all(take_until(at, '.'), d.pool)) return false;
  return read_all(at, d.at) && read_all(text, d.to);
}

bool read_list(std::string_view text, std::vector<listed_decision>& list) {
  while (!text.empty()) {
    listed_decision d{};
    if (!read(take_until(text, ','), d)) return false;
    list.push_back(d);
  }
  return true;
}

/// "d=2" or "k=500".
bool read_bound(std::string_view text, schedule_choice& s) noexcept {
  std::string_view const name = take_until(text, '=');
  std::uint64_t n = 0;
  if (!read_all(text, n) || n == 0) return false;
  if (name != "d" && name != "k") return false;
  (name == "d" ? s.depth : s.steps) = n;
  return true;
}

bool read_choice(std::string_view text, schedule_choice& s) {
  s.only_listed = text.starts_with("only:");
  if (s.only_listed) text.remove_prefix(5);
  bool const has_seed = text.find(':') != text.npos;
  std::string_view const name = take_until(text, ':');
  s.how = name == "always"   ? schedule::steal_always
          : name == "never"  ? schedule::steal_never
          : name == "random" ? schedule::steal_at_random
          : name == "pct"    ? schedule::by_priority
                             : schedule::free;
  if (s.how == schedule::free || (has_seed && !read_all(take_until(text, ':'), s.seed))) return false;
  if (s.only_listed) return has_seed && (s.how == schedule::steal_at_random || s.how == schedule::by_priority) && read_list(text, s.list);
  while (!text.empty()) {
    if (s.how != schedule::by_priority || !read_bound(take_until(text, ':'), s)) return false;
  }
  return s.depth <= 100;
}

// ---- The schedule.

constexpr std::uint64_t of_paces = 0x70616365;  // so that paces do not follow the decisions, which draw by the same seed

std::int64_t machine_now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Sleeps for so many nanoseconds, also if signals arrive, or until a call. True: it was called. relaxed: as in call.
bool sleep_until_called(std::atomic<std::uint32_t>& a, std::uint32_t before, std::int64_t nanoseconds) noexcept {
  std::int64_t const end = machine_now() + nanoseconds;
  for (std::int64_t left = nanoseconds; left > 0 && a.load(std::memory_order_relaxed) == before; left = end - machine_now()) {
    sleep_on(a, before, left);
  }
  return a.load(std::memory_order_relaxed) != before;
}

// ---- The log.

constinit std::mutex beginning;
constinit fork_hook at_fork_of_log{[]() noexcept { beginning.lock(); }, [](bool) noexcept { beginning.unlock(); }};
[[gnu::constructor]] void hold_log_at_fork() noexcept { call_at_fork(at_fork_of_log); }

constinit std::string const* file_name =
    nullptr;                          // written before the file is there; never destroyed, as pools may end after static objects
constinit std::atomic<int> file{-1};  // -1: there is none
constinit std::atomic<bool> is_incomplete{false};  // and a message has said so

// One call, so that lines of several pools do not mix. A message says once that the log is not complete; shrink detects that, too. relaxed:
// the pool that logs was made after the file was opened.
void add(std::string const& line) noexcept {
  int const error = write_all(file.load(std::memory_order_relaxed), line);
  if (error == 0 || is_incomplete.exchange(true, std::memory_order_relaxed)) return;
  std::fprintf(stderr, "nopal: the log %s (from NOPAL_SCHEDULE_LOG) is not complete: %s; make room, or name another file\n",
               file_name->c_str(), std::strerror(error));
}

// The return addresses, the innermost first: on the calling thread's stack, or on `left`, which waits.
std::size_t calls(std::span<std::uintptr_t> pcs, stack const* left) {
  if (left == nullptr) return callers(pcs.data(), pcs.size());
  auto const* const from = static_cast<std::byte const*>(left->sp);
  auto const* const top = reinterpret_cast<std::byte const*>(left);
  if (from < left->low() || from >= top) return 0;
  return code_names::make()->walk({reinterpret_cast<std::uintptr_t>(from), {from, top}}, pcs);
}

// Appends "object+offset" for each that the loader knows.
void add_places(std::string& line, stack const* left) {
  if (&::dladdr == nullptr) return;
  std::array<std::uintptr_t, 32> pcs;
  std::size_t const n = calls(pcs, left);
  for (std::size_t k = 0; k < n; ++k) {
    Dl_info object{};
    auto* const inside = reinterpret_cast<void*>(pcs[k] - 1);  // NOLINT(performance-no-int-to-ptr)
    if (::dladdr(inside, &object) == 0 || object.dli_fname == nullptr) continue;
    std::array<char, 32> offset;
    std::snprintf(offset.data(), offset.size(), "+%#zx", pcs[k] - 1 - reinterpret_cast<std::uintptr_t>(object.dli_fbase));
    line.append("\t").append(object.dli_fname).append(offset.data());
  }
}

}  // namespace

// ---- The choice.

schedule_choice schedule_choice::parse(std::string_view text) {
  schedule_choice s;
  if (constexpr std::string_view simulate = "simulate:"; text.starts_with(simulate) && text != simulate) {
    s.machine = text.substr(simulate.size());
    return s;
  }
  if (!text.ends_with(':') && read_choice(text, s)) return s;
  throw std::invalid_argument{
      "nopal::pool: NOPAL_SCHEDULE = \"" + std::string{text} +
      "\" is no schedule; write always, never, random or pct, and maybe a seed of 64 bits: random:7, pct:7, "
      "pct:7:d=2:k=500 (a depth of at most 100, and steps); or what ./nopal shrink says: only:random:7:12>1,40>0; or simulate: and a "
      "machine: simulate:128, simulate:2x56"};
}

schedule_choice schedule_choice::from_environment() {
  char const* const text = std::getenv("NOPAL_SCHEDULE");  // NOLINT(concurrency-mt-unsafe): the environment must not change during the call
  if (text == nullptr || *text == '\0') return {};
  schedule_choice s = parse(text);
  if (!s.machine.empty()) return s;
  s.pool = controlled_pools.fetch_add(1, std::memory_order_relaxed);  // relaxed: only the number matters
  s.seed += s.pool;
  return s;
}

// ---- The schedule.

// The waits of a worker in the library. The worker that it waits for does not have the turn: so it makes way, and looks again when it has
// the turn again. If no other worker can run, what it waits for comes from outside the pool, and it waits as any thread does. Time is the
// machine's.
class controlled_schedule::own_time final : public virtual_time {
 public:
  own_time(controlled_schedule& of, unsigned i) noexcept : of_{of}, i_{i} {}
  std::int64_t now() noexcept override { return machine_now(); }
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

// A wake-up that is due: under the lock it is decided, and without the lock it is made, since whom it wakes needs that lock. While one is
// under way the holder sleeps, and is not slow.
class controlled_schedule::call {
 public:
  call() = default;
  // Under the lock.
  call(controlled_schedule& of, std::atomic<std::uint32_t>& whom, int threads) noexcept : of_{&of}, whom_{&whom}, threads_{threads} {
    // relaxed: changed under the lock, which whoever has been called takes. The kernel reads it again before a thread sleeps, after the
    // store or before the wake-up.
    whom.store(whom.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    of.calls_.fetch_add(1, std::memory_order_relaxed);  // relaxed: under the lock, as its reader
  }
  // Makes it, once. Without the lock.
  void make() noexcept {
    if (of_ == nullptr) return;
    wake_up(*whom_, threads_);
    // release: pairs with the acquire in holder_sleeps; who reads this finds the holder awake
    std::exchange(of_, nullptr)->calls_.fetch_sub(1, std::memory_order_release);
  }

 private:
  controlled_schedule* of_ = nullptr;
  std::atomic<std::uint32_t>* whom_ = nullptr;
  int threads_ = 0;
};

controlled_schedule::controlled_schedule(schedule_choice how, unsigned workers, pool_state const& pool)
    : choice_{std::move(how)}, pool_{pool}, workers_(workers) {
  for (unsigned i = 0; i < workers; ++i) workers_[i].time = std::make_unique<own_time>(*this, i);
  if (choice_.how != schedule::by_priority) return;
  rng random{choice_.seed};
  priorities_.resize(workers);
  std::iota(priorities_.begin(), priorities_.end(), static_cast<std::int64_t>(choice_.depth));
  std::shuffle(priorities_.begin(), priorities_.end(), random);
  for (std::uint64_t k = 1; k < choice_.depth; ++k) change_points_.push_back(random() % choice_.steps);
}

controlled_schedule::~controlled_schedule() = default;

// Accepts the workers that may find something, for one decision.
auto controlled_schedule::those_that_may_find() const noexcept {
  return [this, anything = something_for_all()](worker_state const& s) { return may_find(s, anything); };
}

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
                                                             : draw(at, one_in == 0 ? 1 : one_in * pace(at), from, accept);
  if (to != usual) log_decision({choice_.pool, at, to}, what, from, left);
  return to;
}

// A strand that can go on loses the turn so many times less often than at the beginning. A run begins lively. After `lively_first` decisions
// each stretch has a pace of its own, by the seed: lively, or calm, so that a worker also runs far while others stand still.
unsigned controlled_schedule::pace(std::uint64_t at) const noexcept {
  constexpr std::uint64_t lively_first = 256, stretch = 64;
  if (choice_.how != schedule::steal_at_random || at < lively_first) return 1;
  constexpr std::array<unsigned, 4> paces{1, 4, 16, 64};
  return paces[rng{choice_.seed ^ of_paces, at / stretch}() % paces.size()];
}

// True if a worker that searches may find something in the pool, whichever worker it is. Each place is read as a hint: one worker runs, and
// has written them while it had the turn; a worker that has lost its turn may write them now.
bool controlled_schedule::something_for_all() const noexcept {
  if (!pool_.steals) return false;
  if (!pool_.queues.empty()) return true;
  return pool_.parking.visible_work() && std::ranges::any_of(pool_.workers, [](worker const* w) {
           return !w->work.looks_empty() || !w->ready.looks_empty() || !w->open.empty();
         });
}

// True if worker i finds something in what is its own.
bool controlled_schedule::something_for(unsigned i) const noexcept {
  worker const& w = *pool_.workers[i];
  return !w.own.empty() || !w.due_own.looks_empty() || !w.open.empty() || !w.ready.looks_empty() || !w.queues->empty();
}

bool controlled_schedule::may_find(worker_state const& s, bool anything) const noexcept {
  return !s.idle || (s.seen != news_ && (anything || something_for(static_cast<unsigned>(&s - workers_.data()))));
}

// Gives the turn to `to`; no_worker: all are idle. Under the lock; the caller makes the call without it.
controlled_schedule::call controlled_schedule::give(unsigned to) noexcept {
  holder_ = to;
  ++given_;
  if (to == no_worker) return settling_ == 0 ? call{} : call{*this, rested_, INT_MAX};
  worker_state& its = workers_[to];
  if (its.thread != 0) its.used_at_turn = stopwatch::used(its.cpu_time);
  return {*this, its.called, 1};
}

// Waits until worker i has the turn. `other`: the call of the worker that gets it first. The holder may never reach a decision, if it waits
// for this worker in a way that we do not see. So if the turn has not changed for tuning::undecided, worker i takes it: at once if it may
// find something, else after a few such times. The former holder runs on, and waits at its next decision. A holder that only gets no CPU
// keeps its turn.
void controlled_schedule::wait(lock& guard, unsigned i, call other) noexcept {
  worker_state& mine = workers_[i];
  for (unsigned in_vain = 0; holder_ != i && !ended_;) {
    std::uint64_t const before = given_;
    std::uint32_t const called = mine.called.load(std::memory_order_relaxed);  // relaxed: under the lock
    guard.unlock();
    other.make();
    bool const in_time = sleep_until_called(mine.called, called, tuning::undecided * std::int64_t{1'000'000});
    guard.lock();
    bool const stands = !in_time && given_ == before && holder_ != no_worker && holder_is_slow(guard);
    in_vain = stands ? in_vain + 1 : 0;
    if (in_vain == 0 || in_vain < (may_find(mine, something_for_all()) ? 1 : tuning::longer_without_news)) continue;
    ++lost_;
    give(i).make();  // wakes none: nobody but this thread sleeps on its word
  }
  other.make();  // the pool has ended
  mine.idle = false;
  mine.seen = news_;
}

void controlled_schedule::wait(lock& guard, unsigned i) noexcept { wait(guard, i, {}); }

// Releases the lock during the look, since the holder may sleep on that lock.
bool controlled_schedule::holder_sleeps(lock& guard) noexcept {
  std::uint64_t const before = given_;
  int const thread = workers_[holder_].thread;
  if (calls_.load(std::memory_order_acquire) != 0) return false;  // acquire: pairs with the release in call::make
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
  auto const accept = those_that_may_find();
  if (ended_ || first_after(i, accept) == no_worker) return false;
  unsigned const to = decide('y', i, 0, accept);
  if (choice_.how == schedule::by_priority && !choice_.only_listed) priorities_[i] = --lowest_;
  wait(guard, i, give(to));
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
    wait(guard, i, give(to));
  }
  return choice_.how != schedule::steal_at_random || rng{choice_.seed, ~at}() % 8 != 0;
}

void controlled_schedule::may_come_later(unsigned i, stack const* left) noexcept {
  lock guard{mutex_};
  wait(guard, i);
  if (choice_.how != schedule::steal_at_random && choice_.how != schedule::by_priority) return;
  char const what = left != nullptr ? 'w' : 's';
  if (unsigned const to = decide(what, i, 4, those_that_may_find(), left); to != no_worker) wait(guard, i, give(to));
}

void controlled_schedule::found_nothing(unsigned i) noexcept {
  lock guard{mutex_};
  worker_state& mine = workers_[i];
  if (holder_ != i) {
    mine.idle = true;
    return wait(guard, i);
  }
  mine.idle = true;
  if (may_find(mine, something_for_all())) {  // something is newer than its search: it searches again
    mine.idle = false;
    mine.seen = news_;
    return;
  }
  wait(guard, i, give(decide('i', i, 0, those_that_may_find())));
}

unsigned controlled_schedule::victim(unsigned i) noexcept {
  std::lock_guard const guard{mutex_};
  return std::exchange(workers_[i].victim, no_worker);
}

// The limit is CPU time, unless the worker that has the turn sleeps: so a loaded machine does not change the order.
void controlled_schedule::settle() noexcept {
  lock guard{mutex_};
  if (holder_ == no_worker || ended_) return;
  constexpr std::int64_t a_while = tuning::until_rest * std::int64_t{1'000'000};
  std::int64_t const began = used_by_all();
  ++settling_;
  while (holder_ != no_worker && !ended_) {
    std::uint32_t const called = rested_.load(std::memory_order_relaxed);  // relaxed: under the lock
    guard.unlock();
    bool const in_time = sleep_until_called(rested_, called, a_while);
    guard.lock();
    if (in_time || holder_ == no_worker || ended_) continue;
    if (used_by_all() - began < a_while && !holder_sleeps(guard)) continue;
    if (holder_ != no_worker) ++lost_;
    break;
  }
  --settling_;
}

// News of which no worker finds anything wakes one all the same: this is the last that could.
void controlled_schedule::something_new() noexcept {
  lock guard{mutex_};
  ++news_;
  if (holder_ != no_worker) return;
  auto const accept = those_that_may_find();
  bool const found = first_after(no_worker, accept) != no_worker;
  call its = give(decide('n', no_worker, 0, [&](worker_state const& s) { return !found || accept(s); }));
  guard.unlock();
  its.make();
}

void controlled_schedule::pool_ends() noexcept {
  std::lock_guard const guard{mutex_};
  ended_ = true;
  log_end(choice_, static_cast<unsigned>(workers_.size()), decisions_, lost_);
  // Under the lock, since a list of them would need memory. Nobody waits for how soon the threads end.
  for (worker_state& s : workers_) call{*this, s.called, 1}.make();
  call{*this, rested_, INT_MAX}.make();
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

// ---- The log.

void begin_schedule_log() {
  char const* const name = ::secure_getenv("NOPAL_SCHEDULE_LOG");  // NOLINT(concurrency-mt-unsafe): it must not change during the call
  if (name == nullptr || *name == '\0') return;
  std::lock_guard const guard{beginning};
  if (file.load(std::memory_order_relaxed) >= 0) return;  // relaxed: under the lock
  int const opened = open_for_writing(name, O_APPEND);
  if (opened < 0) {
    int const error = errno;
    throw std::system_error{error, std::generic_category(),
                            "nopal::pool: the log \"" + std::string{name} + "\" (from NOPAL_SCHEDULE_LOG) " + remedy_for(error)};
  }
  file_name = new std::string{name};
  file.store(opened, std::memory_order_relaxed);  // relaxed: as in add
}

void log_decision(listed_decision const& d, char what, unsigned from, stack const* left) noexcept {
  if (file.load(std::memory_order_relaxed) < 0) return;  // relaxed: as in add
  try {
    std::array<char, 96> text;
    std::snprintf(text.data(), text.size(), "%c\t%u.%llu>%u\t%d", what, d.pool, static_cast<unsigned long long>(d.at), d.to,
                  static_cast<int>(from));
    std::string line{text.data()};
    if (what == 'f' || what == 'w') add_places(line, left);
    add(line.append("\n"));
  } catch (std::exception const&) {  // no memory: shrink has one place less
  }
}

void log_end(schedule_choice const& choice, unsigned workers, std::uint64_t decisions, std::uint64_t lost) noexcept {
  if (file.load(std::memory_order_relaxed) < 0) return;  // relaxed: as in add
  try {
    std::array<char, 128> text;
    std::snprintf(text.data(), text.size(), "end\t%u\t%u\t%llu\t%llu\n", choice.pool, workers, static_cast<unsigned long long>(decisions),
                  static_cast<unsigned long long>(lost));
    add(text.data());
  } catch (std::exception const&) {
  }
}

}  // namespace nopal::core
