#pragma once

// Forced schedules: the workers of a pool take turns, one runs at a time, and a seed decides at which forks and waits the turn changes.
// So rare orders of events come often, and come again with the same seed. For tests: the shipped protocols, made slow.
// README.md, "Turns".

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "nopal/core/base/random.hpp"
#include "nopal/options.hpp"

namespace nopal::core {

/// A schedule, with what decides it.
struct schedule_choice {
  nopal::schedule how = nopal::schedule::free;
  std::uint64_t seed = 0;

  /// "random:7", "always", "never:7". Throws std::invalid_argument, with the text and what to write instead.
  static schedule_choice parse(std::string_view text);
  /// What the environment variable NOPAL_SCHEDULE asks for; each pool that asks gets a seed of its own, by the order in which they ask.
  static schedule_choice from_environment();
};

class controlled_schedule {
 public:
  static constexpr unsigned no_worker = ~0u;

  /// `how` is not free.
  controlled_schedule(schedule_choice how, unsigned workers);

  // ---- Workers. Each returns when it is worker i's turn. A worker that blocks otherwise, or runs for long, loses its turn, so that
  // programs which wait for each other by other means come to their end all the same.

  /// First of all.
  void enter(unsigned i) noexcept;
  /// It has offered something: shall somebody else have the turn, and steal it? True: this is to be asked again at its next fork.
  bool at_fork(unsigned i) noexcept;
  /// Whatever comes next may as well come later than what others do.
  void step(unsigned i) noexcept;
  /// It has found nothing.
  void idle(unsigned i) noexcept;
  /// Whom it is to rob first, once; or nobody.
  unsigned victim(unsigned i) noexcept;

  // ---- Anyone.

  /// For a thread outside the pool, before it brings work: waits a moment for the workers to come to rest, that they all find it in the
  /// same state each time.
  void settle() noexcept;
  /// There is something new to be found.
  void something_new() noexcept;
  /// From now on all run freely.
  void end() noexcept;
  /// How often somebody went on out of turn, or brought work while others ran. While it is 0 the same seed gives the same run.
  std::uint64_t lost() const noexcept;

 private:
  using lock = std::unique_lock<std::mutex>;
  struct worker_turn {
    std::condition_variable given;
    bool idle = true;
    std::uint64_t seen = 0;  ///< of news_, before it last looked
    unsigned victim = no_worker;
  };

  bool chance(unsigned one_in) noexcept { return random_() % one_in == 0; }
  bool may_find(worker_turn const& s) const noexcept { return !s.idle || s.seen != news_; }
  template <class Accept>
  unsigned pick(unsigned but, Accept accept) noexcept;
  void give(unsigned to) noexcept;
  void pass(lock& guard, unsigned from, unsigned to) noexcept;
  void wait(lock& guard, unsigned i) noexcept;

  nopal::schedule const how_;
  mutable std::mutex mutex_;
  std::condition_variable rest_;
  std::vector<worker_turn> workers_;
  rng random_;
  unsigned holder_ = no_worker;  ///< whose turn it is; nobody's: all are idle
  std::uint64_t given_ = 0;   ///< turns
  std::uint64_t news_ = 0;
  std::uint64_t lost_ = 0;
  bool ended_ = false;
};

}  // namespace nopal::core
