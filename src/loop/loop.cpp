#include "nopal/core/loop/loop.hpp"
#include "nopal/core/loop/offer.hpp"
#include "nopal/core/loop/pace.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/scheduler/due.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/pool.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- When a loop is worth sharing.

namespace {

// The limit if no thread would come. A loop that takes `cold` times as long, as its first part may hide, is still not worth a pool.
double longest_alone() noexcept { return loop_tuning::worth_a_pool() / static_cast<double>(loop_tuning::cold); }

// Loops are in a row if at most this is between them: threads that were woken for one are still awake for the next.
std::uint64_t soon(pool_state const& pool) noexcept {
  constexpr double longest = 9e18;  // keep_warm may be the longest time there is
  return static_cast<std::uint64_t>(std::min(static_cast<double>(pool.search_before_sleep) / 1000 * ticks_per_microsecond(), longest));
}

// Waking a thread is paid once, and it stays awake for a while. So one long loop is worth it, or many in a row, of which this one knows
// only those that have ended.
bool is_worth(pool_state& pool, double elapsed, double rest) noexcept {
  if (!pool.steals || pool.size() == 1 || rest < loop_tuning::worth_a_steal()) return false;
  if (pool.parking.somebody_searches()) return true;
  bool const alone_is_long = elapsed >= loop_tuning::worth_a_steal() && rest >= loop_tuning::worth_a_wake();
  if (!alone_is_long && static_cast<double>(pool.alone.ticks(loop_ticks(), soon(pool))) < loop_tuning::worth_a_wake()) return false;
  pool.alone.forget();
  return true;
}

// The pool that would run the caller's loop; null: none has been made.
pool_state* pool_here() noexcept {
  worker* const w = current_or_null();
  return w != nullptr ? &w->pool() : default_pool_state_if_any();
}

}  // namespace

static std::uint64_t ticks_by_own_clock() noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(std_sync::now()) / 1000 * ticks_per_microsecond());
}

std::uint64_t loop_ticks() noexcept {
  virtual_time const* const v = virtual_time::here();
  return v != nullptr && v->is_given() ? ticks_by_own_clock() : clock_ticks();
}

std::uint64_t waiting_ticks() noexcept {
  virtual_time const* const v = virtual_time::here();
  return v != nullptr && v->is_simulated() ? ticks_by_own_clock() : clock_ticks();
}

bool could_share() noexcept {
  pool_state const* const pool = pool_here();
  return pool == nullptr || (pool->steals && pool->size() > 1);
}

std::size_t free_workers() noexcept {
  pool_state const* const pool = pool_here();
  if (pool == nullptr || !pool->steals) return 1;
  std::size_t const all = pool->size();
  if (pool->takes_turns) return all;
  std::size_t const at_work = pool->parking.at_work();
  return std::clamp<std::size_t>(all + (current_or_null() != nullptr ? 1 : 0) - std::min(at_work, all), 1, all);
}

bool worth_sharing(double elapsed, double rest) noexcept {
  worker* const w = current_or_null();
  if (w != nullptr && !w->work.empty()) return w->pool().steals && between_blocks(*w);
  if (pool_state* const pool = pool_here(); pool != nullptr) return is_worth(*pool, elapsed, rest);
  return rest >= loop_tuning::worth_a_pool();
}

void wake_for(double rest) noexcept {
  worker const& w = *current();
  double const others = std::min(rest / loop_tuning::worth_a_worker(), static_cast<double>(w.pool().size())) - 1;
  if (others > 0 && w.pool().steals) w.pool().parking.wake_several(w.index(), static_cast<int>(others), tuning::woken_at_once);
}

void ended_alone(std::uint64_t began) noexcept {
  std::uint64_t const now = loop_ticks();
  if (static_cast<double>(now - began) < loop_tuning::worth_a_steal()) return;
  if (pool_state* const pool = pool_here(); pool != nullptr && pool->size() > 1) pool->alone.note(now, now - began, soon(*pool));
}

void note_who_shares(bool by_schedule) noexcept {
  if (current_or_null() != nullptr) return;
  double const shared_from = could_share() && pool_here() != nullptr ? loop_tuning::worth_a_steal() : longest_alone();
  auto const ticks = static_cast<std::uint64_t>(by_schedule ? 0 : shared_from);
  // relaxed: a hint
  if (std::atomic<std::uint64_t>& a = alone_outside(); a.load(std::memory_order_relaxed) != ticks)
    a.store(ticks, std::memory_order_relaxed);
}

bool shares_by_schedule() noexcept {
  if (pool_state const* const pool = pool_here(); pool != nullptr) return pool->takes_turns;
  // No static variable with a guard: one that another thread has taken, and a fork has copied, is never free. Two threads may read the
  // environment. relaxed: only the value matters.
  enum class answer : unsigned char { unknown, no, yes };
  static constinit std::atomic<answer> wanted{answer::unknown};
  answer a = wanted.load(std::memory_order_relaxed);
  if (a == answer::unknown) {
    char const* const text = std::getenv("NOPAL_SCHEDULE");  // NOLINT(concurrency-mt-unsafe): the environment must not change meanwhile
    a = text != nullptr && *text != '\0' ? answer::yes : answer::no;
    wanted.store(a, std::memory_order_relaxed);
  }
  return a == answer::yes;
}

bool begins_inside() noexcept {
  if (current_or_null() != nullptr) return false;
  pool_state const* const pool = pool_here();
  return shares_by_schedule() || (pool != nullptr && pool->has_own_clock);
}

bool enter_default_pool(void (*what)(void* arg), void* arg, double rest) {
  auto const job = [=] { what(arg); };
  awaited_job<decltype(job) const&> r{job};
  r.pool = &default_pool_state();
  if (rest >= loop_tuning::worth_a_wake()) {
    run_and_wait(*r.pool, r, r.done);
  } else if (!run_if_one_sleeps(*r.pool, r, r.done)) {
    return false;
  }
  r.take();
  return true;
}

// ---- A moment for the thief.

NOPAL_COLD static void wait_a_moment_by_own_clock(branch const& later) noexcept {
  std::uint64_t const began = waiting_ticks();
  auto const moment = static_cast<std::uint64_t>(loop_tuning::moment());
  while (!later.join.complete(1) && waiting_ticks() - began < moment) std_sync::relax();
}

// After a pop that failed, bottom is the index of the entry. A thief that has taken it has raised top above that.
void wait_a_moment(branch const& later) noexcept {
  worker const& w = *current();
  if (w.work.oldest() <= w.work.bottom() || w.pool().takes_turns) return;
  if (w.pool().has_own_clock) [[unlikely]]
    return wait_a_moment_by_own_clock(later);
  std::uint64_t const began = clock_ticks();
  auto const moment = static_cast<std::uint64_t>(loop_tuning::moment());
  while (!later.join.complete(1) && clock_ticks() - began < moment) cpu_relax();
}

// ---- The engine of parallel_for.

namespace {

// From one reading of the clock to another. The later one may be of another CPU, whose clock is behind.
std::uint64_t since(std::uint64_t before, std::uint64_t after) noexcept { return after > before ? after - before : 0; }

// The number of iterations that a strand of the loop runs at once. Each strand has its own.
class pace {
 public:
  pace(loop& l, bool by_schedule) noexcept : loop_{l}, fixed_{by_schedule || l.exact}, cost_{l.cost.ticks()} {
    if (fixed_) {
      quick_ = l.exact ? l.grain : to_grain(std::min(l.count / loop_tuning::blocks_by_schedule, loop_tuning::longest_by_schedule));
    } else if (is_known()) {
      reckon();
    } else {
      quick_ = l.grain;
    }
  }

  // The least number of iterations that are worth a block: those that take loop_tuning::block().
  std::uint64_t quick() const noexcept { return quick_; }
  // The first block of a loop: the known cost is a guess. A thief could come after it, if the loop is as long as it seems: then the block
  // is no longer than it must be to see that.
  std::uint64_t first() const noexcept {
    if (fixed_) return quick_;
    std::uint64_t const n = std::min(guessed(), to_grain(loop_.count / loop_tuning::first_part));
    if (!is_known() || ticks_for(loop_.count) < loop_tuning::worth_a_steal()) return n;
    return std::min(n, to_grain(static_cast<std::uint64_t>(loop_tuning::glimpse() / cost_)));
  }
  // The earlier part of `size` iterations that are split in two, so that both end at once if a thief comes at once.
  std::uint64_t earlier_part(std::uint64_t size) const noexcept {
    if (fixed_ || loop_.grain != 1 || !is_known()) return to_grain(size / 2);
    auto const ahead = static_cast<std::uint64_t>(std::min(loop_tuning::theft() / cost_ / 2, static_cast<double>(size) / 4));
    std::uint64_t multiple = 64;  // as in to_grain, unless that is much time
    while (multiple > 1 && ticks_for(multiple) > loop_tuning::block() / 8) multiple /= 2;
    std::uint64_t const n = (size / 2 + ahead) & ~(multiple - 1);
    return n > 0 ? n : size / 2;
  }
  // A block of a stretch of `size` iterations, of which `workers` may want some. A block longer than necessary saves looks, and does no
  // harm while it is a small part of all.
  std::uint64_t of(std::uint64_t size, std::uint64_t workers) const noexcept {
    if (fixed_) return quick_;
    if (is_guess_) return guessed();
    std::uint64_t const harmless = std::min(size / 4, loop_.count / (loop_tuning::blocks_of_a_worker * workers));
    return harmless <= quick_ ? quick_ : to_grain(std::min(harmless, loop_tuning::longest_block * quick_));
  }
  // A block of a loop that runs alone. `for_ever`: no thread could share it. After each block the loop does more than a comparison.
  std::uint64_t alone(std::uint64_t size, bool for_ever) const noexcept {
    if (fixed_) return quick_;
    return std::max(of(size, 1), (for_ever ? loop_tuning::longest_block : 2) * quick_);
  }
  // True if a block is worth reading the clock.
  bool times() const noexcept { return !fixed_; }
  // A block of `n` iterations took so many ticks. The cost of an iteration may change within a loop; a short block says little.
  void learn(std::uint64_t n, std::uint64_t ticks) noexcept {
    double const iterations = static_cast<double>(n);
    cost_ = std::max(static_cast<double>(ticks), loop_tuning::block() / loop_tuning::most_growth) / iterations;
    is_guess_ = false;
    if (!fixed_) reckon();
  }
  bool is_known() const noexcept { return cost_ > 0; }
  // True if one iteration takes so long that a fork for each does not matter.
  bool is_slow() const noexcept { return !fixed_ && cost_ >= loop_tuning::worth_a_steal(); }
  double ticks_for(std::uint64_t n) const noexcept { return cost_ * static_cast<double>(n); }
  void remember() const noexcept { loop_.cost.learn(cost_); }

  std::uint64_t to_grain(std::uint64_t n) const noexcept { return core::to_grain(n, loop_.grain); }

 private:
  std::uint64_t guessed() const noexcept { return std::min(quick_, to_grain(loop_tuning::longest_guess)); }
  void reckon() noexcept { quick_ = to_grain(static_cast<std::uint64_t>(std::min(loop_tuning::block() / cost_, 1e9))); }

  loop& loop_;
  bool const fixed_;
  double cost_;           // of an iteration, in ticks; 0: not known
  bool is_guess_ = true;  // the cost of earlier loops with a body of this type, which may have had other data
  std::uint64_t quick_;
};

bool is_over(loop const& l, std::uint64_t from) noexcept {
  return from >= l.end.load(std::memory_order_relaxed);  // relaxed: a hint, see there
}

void run_block(loop& l, std::uint64_t from, std::uint64_t to) {
  try {
    throw_if_stopped();
    l.run(l.body, from, to);
  } catch (...) {
    // Later iterations begin no more; earlier ones run to their end, since serial execution may meet an exception there first.
    std::uint64_t end = l.end.load(std::memory_order_relaxed);  // relaxed: as is_over
    while (to < end && !l.end.compare_exchange_weak(end, to, std::memory_order_relaxed)) {
    }
    throw;
  }
}

// A part of a loop on one strand.
class stretch {
 public:
  stretch(loop& l, pace const& p) noexcept : loop_{l}, pace_{p} {}

  // Runs [from, to): offers the later half and runs the earlier one, until little is left. On a worker; another one may run the caller
  // afterwards.
  void run(std::uint64_t from, std::uint64_t to) {
    for (;;) {
      if (is_over(loop_, from)) return;
      if (!can_split(to - from)) return run_unoffered(from, to);
      std::uint64_t const middle = from + pace_.earlier_part(to - from);
      later_part later{*this, middle, to};
      switch (run_while_offered(later, [&] { run_earlier(from, middle); })) {
        case offered::refused: return run_unoffered(from, to);
        case offered::ended: return;
        case offered::taken_back: from = middle;
      }
    }
  }

  // Runs [from, to) in blocks, without offering anything.
  void run_unoffered(std::uint64_t from, std::uint64_t to) {
    std::uint64_t now = 0;
    while (from < to && !is_over(loop_, from)) {
      std::uint64_t const n = std::min(to - from, pace_.of(to - from, 1));
      now = run_timed(from, from + n, now);
      from += n;
      worker& w = *current();
      if (from == to || !between_blocks(w)) continue;
      w.work.empty() ? let_due_run() : answer_request();
      now = 0;
    }
  }

  // Stores the cost that this strand has measured for the next loop.
  void remember() const noexcept { pace_.remember(); }

  // Runs one block, and measures its cost if that is of use. `now`: what the clock shows, or 0: not known. Returns the same at the end.
  std::uint64_t run_timed(std::uint64_t from, std::uint64_t to, std::uint64_t now) {
    if (!pace_.times()) return run_block(loop_, from, to), 0;
    if (now == 0) now = loop_ticks();
    run_block(loop_, from, to);
    std::uint64_t const after = loop_ticks();
    pace_.learn(to - from, since(now, after));
    return after;
  }

 private:
  // The later part of a stretch, in the frame of the strand that runs the earlier one.
  struct later_part : branch {
    later_part(stretch const& whole, std::uint64_t first, std::uint64_t last) noexcept
        : branch{run_stolen}, of{whole.loop_}, at{whole.pace_}, from{first}, to{last} {}
    NOPAL_COLD static void run_stolen(resumable& r, worker& w) noexcept {
      run_stolen_branch(w, static_cast<later_part&>(r), [](branch& b) {
        auto const& self = static_cast<later_part&>(b);
        stretch{self.of, self.at}.run(self.from, self.to);
      });
    }
    loop& of;
    pace const at;
    std::uint64_t const from, to;
  };

  bool can_split(std::uint64_t size) const noexcept { return size > pace_.quick() && size > loop_.grain; }

  // The earlier half of what was split: in blocks, and split again when a thief requests more. Iterations that take long are all offered
  // before the first of them begins, so that a thief need not wait for its end.
  void run_earlier(std::uint64_t from, std::uint64_t to) {
    if (pace_.is_slow() && can_split(to - from)) return run(from, to);
    std::uint64_t const workers = current()->pool().size();
    std::uint64_t now = 0;
    while (from < to && !is_over(loop_, from)) {
      std::uint64_t const n = std::min(to - from, pace_.of(to - from, workers));
      now = run_timed(from, from + n, now);
      from += n;
      worker& w = *current();
      if (from == to || !between_blocks(w)) continue;
      if (can_split(to - from)) return run(from, to);
      answer_request();
      now = 0;
    }
  }

  loop& loop_;
  pace pace_;
};

// A loop begins alone, on the thread that calls it: a short one ends here.
class beginning {
 public:
  beginning(loop& l, bool by_schedule) noexcept : loop_{l}, pace_{l, by_schedule}, from_{l.from} {}

  // True if the loop, by the cost of earlier ones, is so long that it is shared at once.
  bool is_long() const noexcept {
    return pace_.is_known() && rest() >= loop_tuning::worth_a_wake() && worth_sharing(loop_tuning::long_enough(), rest());
  }

  // Runs blocks until the loop has ended: true. Or until the rest is worth sharing: false.
  bool run() {
    std::uint64_t size = from_ == 0 ? pace_.first() : pace_.alone(loop_.count - from_, false);
    std::uint64_t before = loop_ticks();
    if (began_ == 0) began_ = before;
    for (;;) {
      std::uint64_t const n = std::min(size, loop_.count - from_);
      run_block(loop_, from_, from_ + n);
      from_ += n;
      if (from_ == loop_.count) {
        if (!pace_.is_known() && pace_.times()) pace_.learn(n, since(before, loop_ticks()));
        pace_.remember();
        if (rest_was_long_) ended_alone(began_);
        return true;
      }
      std::uint64_t const now = loop_ticks();
      pace_.learn(n, since(before, now));
      double const left = rest();
      bool for_ever = false;
      if (left >= loop_tuning::worth_a_steal()) {
        for_ever = !could_share();
        rest_was_long_ = true;
        if (worth_sharing(static_cast<double>(now - began_), left)) {
          pace_.remember();
          return false;
        }
      }
      if (worker* const w = current_or_null(); w != nullptr && between_blocks(*w)) w->work.empty() ? let_due_run() : answer_request();
      before = now;
      size = pace_.alone(loop_.count - from_, for_ever);
    }
  }

  void share() {
    if (current_or_null() != nullptr) {
      wake_for(rest());
      stretch all{loop_, pace_};
      all.run(from_, loop_.count);
      return all.remember();
    }
    while (!enter_default_pool([](void* self) { static_cast<beginning*>(self)->share(); }, this, rest())) {
      if (run()) return;
    }
  }

 private:
  double rest() const noexcept { return pace_.ticks_for(loop_.count - from_); }

  loop& loop_;
  pace pace_;
  std::uint64_t from_;
  std::uint64_t began_ = 0;
  bool rest_was_long_ = false;  // long enough for a thief that is awake
};

}  // namespace

void run_loop(loop& l) {
  if (l.count == 0) return;
  let_due_run_between_blocks();
  bool const by_schedule = shares_by_schedule();
  note_who_shares(by_schedule);
  if (begins_inside()) return run_in_default_pool([&] { run_loop(l); });
  beginning b{l, by_schedule};
  if (by_schedule || b.is_long()) return b.share();
  if (!b.run()) b.share();
}

// ---- Limits that are refused.

void reject_negative(std::int64_t first, unsigned bits) {
  throw std::invalid_argument{"nopal::parallel_for: first = " + std::to_string(first) + " is below 0, the least value of the unsigned " +
                              std::to_string(bits) +
                              "-bit type in which the loop counts, since last has that type; convert last to a signed type"};
}

}  // namespace nopal::core
