#include "nopal/core/scheduler/controlled_schedule.hpp"

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include "nopal/core/base/tuning.hpp"

namespace nopal::core {

namespace {

std::atomic<std::uint64_t> controlled_pools{0};  // pools whose schedule the environment has decided

}  // namespace

schedule_choice schedule_choice::parse(std::string_view text) {
  std::string_view const name = text.substr(0, text.find(':'));
  schedule_choice s;
  s.how = name == "always"   ? schedule::steal_always
          : name == "never"  ? schedule::steal_never
          : name == "random" ? schedule::steal_at_random
                             : schedule::free;
  bool good = s.how != schedule::free;
  if (name.size() < text.size()) {
    std::string_view const number = text.substr(name.size() + 1);
    auto const [end, error] = std::from_chars(number.data(), number.data() + number.size(), s.seed);
    good = good && error == std::errc{} && end == number.data() + number.size();
  }
  if (!good) {
    throw std::invalid_argument{"nopal::pool: NOPAL_SCHEDULE = \"" + std::string{text} +
                                "\" is no schedule; write always, never or random, and maybe a seed of 64 bits: random:7"};
  }
  return s;
}

schedule_choice schedule_choice::from_environment() {
  char const* const text = std::getenv("NOPAL_SCHEDULE");  // NOLINT(concurrency-mt-unsafe): the environment must not change meanwhile
  if (text == nullptr || *text == '\0') return {};
  schedule_choice s = parse(text);
  s.seed += controlled_pools.fetch_add(1, std::memory_order_relaxed);  // relaxed: only the number matters
  return s;
}

controlled_schedule::controlled_schedule(schedule_choice how, unsigned workers) : how_{how.how}, workers_(workers), random_{how.seed} {}

// Draws one of the workers other than `but` for which accept(its state) is true; no_worker if there is none.
template <class Accept>
unsigned controlled_schedule::pick(unsigned but, Accept accept) noexcept {
  unsigned count = 0;
  for (unsigned k = 0; k < workers_.size(); ++k) count += k != but && accept(workers_[k]);
  if (count == 0) return no_worker;
  auto left = static_cast<unsigned>(random_() % count);
  for (unsigned k = 0;; ++k) {
    if (k != but && accept(workers_[k]) && left-- == 0) return k;
  }
}

// Gives the turn to `to`; to no_worker, when all are idle.
void controlled_schedule::give(unsigned to) noexcept {
  holder_ = to;
  ++given_;
  if (to == no_worker) {
    rest_.notify_all();
  } else {
    workers_[to].given.notify_one();
  }
}

// Gives the turn to another, and waits to get it back.
void controlled_schedule::pass(lock& guard, unsigned from, unsigned to) noexcept {
  give(to);
  wait(guard, from);
}

// Waits until worker i has the turn. Its holder may never come to a decision: it waits for this worker, in a way that we do not see. So if
// the turn has not changed for tuning::undecided, worker i takes it, at once where there may be something for it to find, otherwise after a
// few such times. The former holder runs on, and waits at its next decision.
void controlled_schedule::wait(lock& guard, unsigned i) noexcept {
  worker_state& mine = workers_[i];
  for (unsigned in_vain = 0; holder_ != i && !ended_;) {
    std::uint64_t const before = given_;
    bool const in_time = mine.given.wait_for(guard, std::chrono::milliseconds{tuning::undecided}) == std::cv_status::no_timeout;
    bool const stands = !in_time && given_ == before && holder_ != no_worker;
    in_vain = stands ? in_vain + 1 : 0;
    if (in_vain < (may_find(mine) ? 1 : tuning::longer_without_news)) continue;
    ++lost_;
    give(i);
  }
  mine.idle = false;
  mine.seen = news_;
}

void controlled_schedule::enter(unsigned i) noexcept {
  lock guard{mutex_};
  wait(guard, i);
}

bool controlled_schedule::at_fork(unsigned i) noexcept {
  lock guard{mutex_};
  wait(guard, i);
  ++news_;
  unsigned to = no_worker;
  switch (how_) {
    case schedule::free:
    case schedule::steal_never: return false;
    case schedule::steal_always: to = pick(i, [](worker_state const& s) { return s.idle; }); break;
    case schedule::steal_at_random:
      if (chance(3)) to = pick(i, [](worker_state const&) { return true; });
      break;
  }
  if (to != no_worker) {
    if (workers_[to].idle) workers_[to].victim = i;
    pass(guard, i, to);
  }
  return how_ == schedule::steal_always || !chance(8);
}

void controlled_schedule::step(unsigned i) noexcept {
  lock guard{mutex_};
  wait(guard, i);
  if (how_ != schedule::steal_at_random || !chance(4)) return;
  if (unsigned const to = pick(i, [this](worker_state const& s) { return may_find(s); }); to != no_worker) pass(guard, i, to);
}

void controlled_schedule::idle(unsigned i) noexcept {
  lock guard{mutex_};
  worker_state& mine = workers_[i];
  if (holder_ == i && mine.seen != news_) {  // there is something newer than its search: it searches again
    mine.seen = news_;
    return;
  }
  mine.idle = true;
  if (holder_ == i) give(pick(i, [this](worker_state const& s) { return may_find(s); }));
  wait(guard, i);
}

unsigned controlled_schedule::victim(unsigned i) noexcept {
  std::lock_guard const guard{mutex_};
  return std::exchange(workers_[i].victim, no_worker);
}

void controlled_schedule::settle() noexcept {
  lock guard{mutex_};
  if (!rest_.wait_for(guard, std::chrono::milliseconds{tuning::until_rest}, [this] { return holder_ == no_worker || ended_; })) ++lost_;
}

void controlled_schedule::something_new() noexcept {
  std::lock_guard const guard{mutex_};
  ++news_;
  if (holder_ == no_worker) give(pick(no_worker, [](worker_state const&) { return true; }));
}

void controlled_schedule::end() noexcept {
  std::lock_guard const guard{mutex_};
  ended_ = true;
  for (worker_state& s : workers_) s.given.notify_one();
  rest_.notify_all();
}

void controlled_schedule::begin_again() noexcept {
  std::lock_guard const guard{mutex_};
  ended_ = false;
  holder_ = no_worker;
  for (worker_state& s : workers_) s.idle = true;
}

std::uint64_t controlled_schedule::lost() const noexcept {
  std::lock_guard const guard{mutex_};
  return lost_;
}

}  // namespace nopal::core
