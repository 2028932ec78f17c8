#pragma once

// Order in simulated time. Operations of two strands on one object (lock it, count it down, wait for it) happen in the order of their
// clocks. Below: virtual time, and the coarse clock.

#include <atomic>
#include <cstdint>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Number of simulated machines in this process.
NOPAL_API extern constinit std::atomic<unsigned> simulated_machines;
NOPAL_API NOPAL_COLD void come_in_order() noexcept;

/// Called before an operation on an object that other strands use too. On a worker of a simulated machine, all earlier operations of other
/// workers come first; so the operation finds the object as it is at this worker's time. Elsewhere one load. The caller holds no lock of
/// the library, since others may run in between.
NOPAL_INLINE void in_order() noexcept {
  // relaxed: a worker of a simulated machine was started after the machine was counted
  if (simulated_machines.load(std::memory_order_relaxed) != 0) [[unlikely]]
    come_in_order();
}

// Virtual time: the time of a thread in a simulated pool. The functions of std_sync that take or measure time (now, relax, wait, wake, …)
// ask this thread's virtual time instead, so that the shipped protocols run in simulated time, unchanged. On any other thread that is one
// look at a word of the thread. Next: sync.hpp; companions/simulation/src/simulation.hpp, which has one a worker.

/// The time of one thread. By that thread, each function but `wake_any`.
class virtual_time {
 public:
  static constexpr std::int64_t for_ever = -1;

  virtual_time() = default;
  virtual_time(virtual_time const&) = delete;
  virtual_time& operator=(virtual_time const&) = delete;
  virtual ~virtual_time() = default;

  /// As the functions of std_sync with these names. A function that may let another thread run says so.
  virtual std::int64_t now() noexcept = 0;
  virtual bool is_simulated() const noexcept { return false; }  ///< true if now() is not the machine's
  virtual bool is_given() const noexcept { return false; }      ///< true if now() advances only by times that the program gives
  virtual void relax() noexcept = 0;                            ///< may let another thread run
  virtual void yield() noexcept = 0;                            ///< may let another thread run
  virtual void sleep(std::int64_t nanoseconds) noexcept = 0;    ///< may let another thread run
  /// Sleeps until woken, or for so many nanoseconds, or `for_ever`, if `a` still holds `expected`. May let another thread run.
  virtual void wait(std::atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t nanoseconds) noexcept = 0;
  /// A signal has interrupted the thread: threads that are behind it in time run first. Inside the handler. `waits`: it waited in the
  /// kernel for another thread; then all others continue, and this thread with them once it has what it waits for. `by_alarm`: the signal
  /// is a timer's.
  virtual void interrupted(bool waits, bool by_alarm) noexcept = 0;
  /// All that others do earlier comes first: come_in_order. May let another thread run.
  virtual void come_in_order() noexcept = 0;

  /// While one lives, the thread of that time holds a lock that others need: a signal does not stop it there.
  class not_interrupted {
   public:
    explicit not_interrupted(virtual_time* v) noexcept : of_{v} {
      if (of_ != nullptr) of_->locks_ = of_->locks_ + 1;
      std::atomic_signal_fence(std::memory_order_seq_cst);  // pairs with the handler, on the same thread
    }
    not_interrupted(not_interrupted const&) = delete;
    not_interrupted& operator=(not_interrupted const&) = delete;
    ~not_interrupted() {
      std::atomic_signal_fence(std::memory_order_seq_cst);  // as above
      if (of_ != nullptr) of_->locks_ = of_->locks_ - 1;
    }

   private:
    virtual_time* const of_;
  };
  /// As not_interrupted, for the calling thread, between the two calls. Only for locks under which no simulated machine begins or ends.
  NOPAL_API NOPAL_COLD static void hold_here() noexcept;
  NOPAL_API NOPAL_COLD static void let_go_here() noexcept;
  bool may_be_interrupted() const noexcept { return locks_ == 0; }

  /// Wakes simulated threads that sleep on `a`, one or all. True: there was one. Any thread.
  static bool wake_any(std::atomic<std::uint32_t> const& a, bool all) noexcept {
    return domains.load(std::memory_order_seq_cst) != nullptr &&
           wake_in_domains(a, all);  // seq_cst: none is made while a thread sleeps in it
  }
  /// This thread's; null: time is the machine's. Never inlined, since a thread may leave a stack and another continue on it.
  static virtual_time* here() noexcept;
  static void set_here(virtual_time* v) noexcept;
  /// The process forks: by the thread that forks, before and after. The child has none of the simulated threads, and no simulated time.
  static void before_fork() noexcept;
  static void after_fork(bool in_child) noexcept;

  /// Threads of one simulation, which sleep together.
  class domain {
   public:
    domain(domain const&) = delete;
    domain& operator=(domain const&) = delete;

   protected:
    domain() = default;
    ~domain() = default;
    /// From now on, until it leaves, calls `wake` for each word on which any thread of the process wakes others. The last step of a
    /// constructor, and the first of a destructor.
    void enter_list() noexcept;
    void leave_list() noexcept;
    virtual bool wake(std::atomic<std::uint32_t> const& a, bool all) noexcept = 0;

   private:
    friend class virtual_time;
    domain* next_ = nullptr;
  };

 private:
  NOPAL_COLD static bool wake_in_domains(std::atomic<std::uint32_t> const& a, bool all) noexcept;
  static std::atomic<domain*> domains;

  int volatile locks_ = 0;
};

// The system's coarse clock: for ages in reports, which people read. It has the steady clock's time of the kernel's last tick, 1 to 10 ms
// ago. Reading it takes some 3 ns on any machine, since it reads no hardware. Next: ../stack/stack.hpp, which keeps when a wait began.

/// Nanoseconds of the steady clock.
std::int64_t coarse_now() noexcept;

// From ticks of the processor's clock to nanoseconds.

/// By both clocks, since the library was loaded; a call waits until that is two milliseconds ago. Any thread.
double ticks_per_nanosecond() noexcept;

}  // namespace nopal::core
