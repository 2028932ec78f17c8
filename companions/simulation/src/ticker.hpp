#pragma once

// The thread that interrupts a worker when another is due. It asks the worker's next fork to poll; a worker that does not fork soon gets a
// signal, SIGURG, and waits inside the signal's handler. If the worker that has the turn waits for another one in a way that the simulation
// does not see, the ticker takes the turn from it. Next: simulation.hpp.

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

class ticker {
 public:
  /// What the ticker does to the worker that has the turn.
  struct hands {
    std::function<void(unsigned)> ask;        ///< makes its next fork poll
    std::function<void(unsigned)> interrupt;  ///< sends the signal
    std::function<bool(unsigned)> unblock;    ///< takes the turn from it if it does not run. True: done
    std::function<void()> rested;             ///< called if no worker had the turn until the time came
  };
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  /// `cpus`: where it runs. `spins`: it waits for short times awake, since no worker needs these CPUs; else it sleeps, and is later.
  ticker(hands h, std::vector<int> const& cpus, bool spins, double ticks_in_a_nanosecond);
  ~ticker();
  ticker(ticker const&) = delete;
  ticker& operator=(ticker const&) = delete;

  /// From now on `worker` has the turn, and must be interrupted when clock_ticks() is `due`, or never. ~0u: none has the turn, and `rested`
  /// is called then.
  void set(unsigned worker, std::uint64_t due) noexcept;
  /// The CPU time that its thread has used, in nanoseconds.
  std::int64_t used() noexcept;

 private:
  void run(std::vector<int> const& cpus) noexcept;
  bool wait_until(std::uint64_t ticks, std::uint32_t epoch) noexcept;
  void watch(unsigned worker, std::uint32_t epoch) noexcept;

  hands const hands_;
  bool const spins_;
  double const ticks_;
  // One thread at a time sets these; epoch_ is odd while it does.
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<unsigned> worker_;
  std::atomic<std::uint64_t> due_{never};
  std::atomic<bool> ends_{false};
  std::atomic<bool> sleeps_{false};
  std::thread thread_;
};

}  // namespace nopal::core
