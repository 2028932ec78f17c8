#include "nopal/core/scheduler/controlled_schedule.hpp"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace nopal::core {

namespace {

// A worker that has made no decision for so long does not run, or waits for one of the others.
constexpr std::chrono::milliseconds patience{50};
// So many times longer a worker waits that knows of nothing to be found: a thief may miss some, and not everything offered is news.
constexpr unsigned longer_without_news = 4;
// All that is left to do for workers without work is to see that.
constexpr std::chrono::milliseconds until_rest{5};

std::atomic<std::uint64_t> pools_forced{0};

}  // namespace

forced_schedule forced_schedule::parse(std::string_view text) {
  std::string_view const name = text.substr(0, text.find(':'));
  forced_schedule s;
  s.how = name == "always" ? schedule::steal_always : name == "never" ? schedule::steal_never : name == "random" ? schedule::steal_at_random : schedule::free;
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

forced_schedule forced_schedule::from_environment() {
  char const* const text = std::getenv("NOPAL_SCHEDULE");  // NOLINT(concurrency-mt-unsafe): nobody may change the environment meanwhile
  if (text == nullptr || *text == '\0') return {};
  forced_schedule s = parse(text);
  s.seed += pools_forced.fetch_add(1, std::memory_order_relaxed);
  return s;
}

turns::turns(forced_schedule how, unsigned workers) : how_{how.how}, seats_(workers), random_{how.seed} {}

// Draws one of the others that `accept` takes.
template <class Accept>
unsigned turns::pick(unsigned but, Accept accept) noexcept {
  unsigned count = 0;
  for (unsigned k = 0; k < seats_.size(); ++k) count += k != but && accept(seats_[k]);
  if (count == 0) return nobody;
  auto left = static_cast<unsigned>(random_() % count);
  for (unsigned k = 0;; ++k) {
    if (k != but && accept(seats_[k]) && left-- == 0) return k;
  }
}

void turns::give(unsigned to) noexcept {
  holder_ = to;
  ++given_;
  if (to == nobody) {
    rest_.notify_all();
  } else {
    seats_[to].turn.notify_one();
  }
}

void turns::pass(lock& guard, unsigned from, unsigned to) noexcept {
  give(to);
  wait(guard, from);
}

void turns::wait(lock& guard, unsigned i) noexcept {
  seat& mine = seats_[i];
  for (unsigned in_vain = 0; holder_ != i && !ended_;) {
    std::uint64_t const before = given_;
    bool const stands = mine.turn.wait_for(guard, patience) == std::cv_status::timeout && given_ == before && holder_ != nobody;
    in_vain = stands ? in_vain + 1 : 0;
    if (in_vain < (may_find(mine) ? 1 : longer_without_news)) continue;
    ++lost_;
    give(i);
  }
  mine.idle = false;
  mine.seen = news_;
}

void turns::enter(unsigned i) noexcept {
  lock guard{mutex_};
  wait(guard, i);
}

bool turns::at_fork(unsigned i) noexcept {
  lock guard{mutex_};
  wait(guard, i);
  ++news_;
  unsigned to = nobody;
  switch (how_) {
    case schedule::free:
    case schedule::steal_never: return false;
    case schedule::steal_always: to = pick(i, [](seat const& s) { return s.idle; }); break;
    case schedule::steal_at_random:
      if (chance(3)) to = pick(i, [](seat const&) { return true; });
      break;
  }
  if (to != nobody) {
    if (seats_[to].idle) seats_[to].victim = i;
    pass(guard, i, to);
  }
  return how_ == schedule::steal_always || !chance(8);
}

void turns::step(unsigned i) noexcept {
  lock guard{mutex_};
  wait(guard, i);
  if (how_ != schedule::steal_at_random || !chance(4)) return;
  if (unsigned const to = pick(i, [this](seat const& s) { return may_find(s); }); to != nobody) pass(guard, i, to);
}

void turns::idle(unsigned i) noexcept {
  lock guard{mutex_};
  seat& mine = seats_[i];
  if (holder_ == i && mine.seen != news_) {  // it may not have seen the latest
    mine.seen = news_;
    return;
  }
  mine.idle = true;
  if (holder_ == i) give(pick(i, [this](seat const& s) { return may_find(s); }));
  wait(guard, i);
}

unsigned turns::victim(unsigned i) noexcept {
  std::lock_guard const guard{mutex_};
  return std::exchange(seats_[i].victim, nobody);
}

void turns::settle() noexcept {
  lock guard{mutex_};
  if (!rest_.wait_for(guard, until_rest, [this] { return holder_ == nobody || ended_; })) ++lost_;
}

void turns::arrived() noexcept {
  std::lock_guard const guard{mutex_};
  ++news_;
  if (holder_ == nobody) give(pick(nobody, [](seat const&) { return true; }));
}

void turns::end() noexcept {
  std::lock_guard const guard{mutex_};
  ended_ = true;
  for (seat& s : seats_) s.turn.notify_one();
  rest_.notify_all();
}

std::uint64_t turns::lost() const noexcept {
  std::lock_guard const guard{mutex_};
  return lost_;
}

}  // namespace nopal::core
