#pragma once

// The engine: who looks for what has completed, and who is told. ../README.md has the protocol and why no request is lost. Next: waiting.hpp,
// what waits; source.hpp, idle workers that look; peers.hpp, ranks that die; mpi.cpp, the calls.

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "looker.hpp"
#include "nopal/mpi/error.hpp"
#include "nopal/mpi/options.hpp"
#include "peers.hpp"
#include "waiting.hpp"

namespace nopal::inline NOPAL_ABI::mpi {

class engine {
 public:
  engine() = default;
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;
  ~engine() = default;  // after end()

  /// The engine of the session; std::logic_error if there is none, in the name of `call`.
  static engine& here(char const* call);
  /// As here, but it stays as long as the pointer to it; null if there is none.
  static std::shared_ptr<engine> of_session() noexcept;

  /// Starts the thread, which initialises MPI, or uses it as it is (`argc` null). What session's constructor throws.
  static void start(int* argc, char*** argv, session_options const& o);
  /// Ends what `start` has begun.
  static void end() noexcept;
  /// MPI_Abort, after one line on stderr: "nopal::mpi: rank 1 of 2 <what>; all ranks end".
  [[noreturn]] void abort(char const* what) noexcept;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  int threads() const noexcept { return threads_; }
  bool funnelled() const noexcept { return threads_ < MPI_THREAD_SERIALIZED; }
  bool serves_pools() const noexcept { return serves_pools_; }
  /// True: the caller is the session's thread.
  bool on_own_thread() const noexcept { return std::this_thread::get_id() == id_; }
  /// True if somebody waits. seq_cst: README.md, "Why no request is lost".
  bool has_waiters() const noexcept { return waiters_.load(std::memory_order_seq_cst) != 0; }

  /// f() where MPI may be called by this thread: not if it is funnelled.
  template <class F>
  void here_in_turn(F f) {
    std::unique_lock<std::mutex> turn{turn_, std::defer_lock};
    if (threads_ < MPI_THREAD_MULTIPLE) turn.lock();
    f();
  }

  /// Gives `c`. The caller waits for c.told then.
  void give(command& c) noexcept;
  /// Looks once, if no other thread does: takes commands, and tests what is waited for. The commands that have ended, linked by `next`.
  command* look() noexcept;
  /// Tells the givers, which may be gone afterwards. `by`: the source of the pool on which the caller works, or whose timer it is; null:
  /// none. What another pool waits for goes to that one's source. True: some waited on that pool, or on none.
  bool tell(command* ended, looker const* by) noexcept;
  /// The source of the pool on which the caller works, if it is of this engine; else null.
  looker* source_here() const noexcept;

  /// Begins the requests, if they have not begun, and tests each once. True: all have ended. Where MPI may be called.
  static bool begin(wait_for_all& w) noexcept;

  // ---- Of commands, as they are taken.

  void ended(command& c) noexcept;
  void add(wait_for_all& w) noexcept;
  void add(wait_by_test& w) noexcept;
  /// It ends, though not all of it has.
  void remove(wait_for_all& w) noexcept;
  void remove(wait_by_test& w) noexcept;

  // ---- By sources.

  void enter(looker& s);
  void leave(looker& s) noexcept;
  /// A source is about to sleep until somebody waits; or has got up. seq_cst: README.md, "Why no request is lost".
  void sleeps_deeply() noexcept { deep_sources_.fetch_add(1, std::memory_order_seq_cst); }
  void got_up() noexcept { deep_sources_.fetch_sub(1, std::memory_order_seq_cst); }

 private:
  int initialise(int* argc, char*** argv, int asked);
  void serve() noexcept;
  void finish() noexcept;
  [[noreturn]] void die_with(peers::peer const& p) noexcept;
  bool is_needed() const noexcept;
  void sleep_until_needed() noexcept;
  void wake_sources() noexcept;
  void take_commands() noexcept;
  void test_requests() noexcept;
  void take_ended(std::size_t n, bool some_failed) noexcept;
  void test_each() noexcept;
  void has_ended(std::size_t slot, int code, MPI_Status const& status) noexcept;
  void forget(std::size_t slot) noexcept;
  void test_others() noexcept;

  int rank_ = 0, size_ = 1, threads_ = MPI_THREAD_SINGLE;
  bool serves_pools_ = true, finalises_ = false;
  MPI_Comm own_ = MPI_COMM_NULL;  // a copy of MPI_COMM_WORLD
  MPI_Errhandler before_world_ = MPI_ERRHANDLER_NULL, before_self_ = MPI_ERRHANDLER_NULL;
  peers peers_;

  std::thread thread_;
  std::thread::id id_;
  std::atomic<bool> sleeps_{false};
  std::atomic<bool> ending_{false};

  std::mutex turn_;  // who is in MPI, with MPI_THREAD_SERIALIZED
  std::mutex looks_;
  std::atomic<std::size_t> waiters_{0};   // commands that were given and have not ended
  std::atomic<std::size_t> unserved_{0};  // of these, those for which the session's thread must look
  std::atomic<command*> commands_{nullptr};

  std::mutex sources_mutex_;
  std::vector<looker*> sources_;
  std::atomic<std::size_t> deep_sources_{0};

  // ---- Of who looks, under looks_.

  struct owner {
    wait_for_all* wait;
    std::size_t which;
  };
  bool closed_ = false;                // MPI is at its end
  std::vector<MPI_Request> requests_;  // what MPI_Testsome tests, and whose they are
  std::vector<owner> owners_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<std::size_t> order_;
  std::vector<wait_by_test*> others_;
  command* ended_ = nullptr;  // in this look
};

}  // namespace nopal::mpi
