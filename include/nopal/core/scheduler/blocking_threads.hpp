#pragma once

// Threads for calls that block. nopal::block_on hands its call over to one of them, and its worker runs other work until the call ends.
// They are started when they are needed, up to a limit, and end with the pool. Next: ../../block_on.hpp.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// One call. It is stored in the frame of the strand that waits for its end.
struct blocking_call {
  void (*run)(blocking_call& me) noexcept;  ///< calls, and keeps the result
  region_id region = no_region;             ///< in which it runs: the caller's, which holds it
  fiber_values* values = nullptr;           ///< which it sees: the caller's
  std::chrono::steady_clock::time_point begun;
  std::chrono::steady_clock::time_point ended;
  event done;  ///< set by the thread, whose last access of the call this is
  blocking_call* next = nullptr;
};

class blocking_threads {
 public:
  /// At most `limit` threads, called name:block.
  blocking_threads(std::string name, unsigned limit) noexcept : name_{std::move(name)}, limit_{limit} {}
  blocking_threads(blocking_threads const&) = delete;
  blocking_threads& operator=(blocking_threads const&) = delete;
  ~blocking_threads() { stop(); }

  /// Gives `c` to a thread: an idle one, a new one, or the first that becomes idle. Any thread. Throws std::system_error if there is no
  /// thread and none can be started, or std::bad_alloc; then nothing has happened.
  void give(blocking_call& c);
  /// Ends the threads when no call is left. By the end of the pool.
  void stop() noexcept;
  /// The number of threads if all are idle and no call waits for one; else 0. Any thread, without a lock.
  unsigned all_idle() const noexcept;

 private:
  void loop() noexcept;
  void start_thread();

  std::mutex mutex_;
  std::condition_variable changed_;
  blocking_call* first_ = nullptr;  // calls that wait for a thread, oldest first
  blocking_call* last_ = nullptr;
  std::vector<std::thread> threads_;
  std::string const name_;
  unsigned const limit_;
  // Changed under the mutex.
  std::atomic<unsigned> waiting_{0};  // calls between first_ and last_
  std::atomic<unsigned> idle_{0};     // threads that wait for a call; each call that waits takes one of them
  std::atomic<unsigned> begun_{0};    // threads that there are
  bool stopping_ = false;
};

/// Runs `c` on a thread for blocking calls of the caller's pool, and waits for its end. By a worker. Throws as give.
NOPAL_API NOPAL_COLD void call_blocking(blocking_call& c);

}  // namespace nopal::core
