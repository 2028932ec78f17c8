#pragma once

// The engine: who looks for what has completed, and who is told. ../README.md has the protocol and why no request is lost. Next: peers.hpp,
// ranks that die; mpi.cpp, the calls.

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "nopal/core/compiler/config.hpp"
#include "nopal/event_source.hpp"
#include "nopal/mpi/basics.hpp"
#include "nopal/semaphore.hpp"
#include "peers.hpp"

namespace nopal::inline NOPAL_ABI::mpi {

class engine;
class looker;

// ---- What waits.

// In the frame of the one that waits, and known to the engine until it has ended.

/// A command is what a thread gives to the engine: taken once, by the thread that looks, where MPI may be called. The giver waits for `told`,
/// which is released once, as the last access of whoever looks: then it may be gone.
struct command {
  void (*taken)(engine&, command&) noexcept = nullptr;
  command* next = nullptr;  ///< among commands that nobody has taken yet; later, among those whose giver is to be told
  bool by_session = false;  ///< the session's thread must look for it
  looker* of = nullptr;     ///< the source of the pool on which the giver works, which tells it; null: any thread does
  semaphore told{0};
};

/// One request of a wait. Once it is in the engine, only who looks uses it.
struct one_request {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  int code = MPI_SUCCESS;
  bool has_ended = false;
  bool may_cancel = false;  ///< a receive, which is cancelled if its caller is asked to stop
  bool asked_to_end = false;
  bool was_cancelled = false;
};

/// A wait for all of some requests.
struct wait_for_all : command {
  /// Begins the requests; null: they have begun. What MPI returns.
  int (*begin)(void* with, std::span<one_request> requests) noexcept = nullptr;
  void* with = nullptr;
  std::span<one_request> requests;
  std::size_t left = 0;     ///< that have not ended
  int begun = MPI_SUCCESS;  ///< what `begin` has returned
};

/// A wait for something that is tested for by a call of its own.
struct wait_by_test : command {
  /// True: it has ended. Where MPI may be called.
  bool (*test)(wait_by_test& me) noexcept = nullptr;
  int code = MPI_SUCCESS;
  bool is_tested = false;  ///< it is in the engine's list
  bool gave_up = false;
};

// ---- What the engine knows of a pool's source.

// Whether it sleeps until somebody waits, and what is to be told by it.

class looker : public event_source {
 public:
  explicit looker(engine const& e) noexcept : of_{e} {}

  /// seq_cst: ../README.md, "Why no request is lost".
  bool sleeps_deeply() const noexcept { return deep_.load(std::memory_order_seq_cst); }
  /// Puts what has ended into the mail, and wakes the source. Any thread, while the source is in the engine's list.
  void bring(command& c) noexcept {
    c.next = mail_.load(std::memory_order_relaxed);  // relaxed, here and where the exchange fails: the pointer is stored, not followed
    // release: pairs with the exchange in mail, for what the command waited for
    while (!mail_.compare_exchange_weak(c.next, &c, std::memory_order_release, std::memory_order_relaxed)) {
    }
    wake();
  }
  bool is_of(engine const& e) const noexcept { return &of_ == &e; }
  /// Takes all mail. Any thread.
  command* mail() noexcept {
    // relaxed: a hint, since a wake comes after the mail. acquire: pairs with bring.
    return mail_.load(std::memory_order_relaxed) == nullptr ? nullptr : mail_.exchange(nullptr, std::memory_order_acquire);
  }

 protected:
  std::atomic<bool> deep_{false};

 private:
  std::atomic<command*> mail_{nullptr};
  engine const& of_;
};

// ---- The engine.

class engine {
 public:
  engine() = default;
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;
  ~engine() = default;  // after end()

  /// The engine of the session; std::logic_error if there is none, in the name of `call`.
  static engine& here(char const* call);
  /// As here; null if there is none.
  static engine* here_or_null() noexcept;
  /// As here, but it stays as long as the pointer to it; null if there is none.
  static std::shared_ptr<engine> of_session() noexcept;
  /// As of_session; in the child of a fork its parent's, whose numbers stay as they are.
  static std::shared_ptr<engine> of_session_or_parent() noexcept;
  /// True in the child of a fork, if its parent had a session then. The session's thread is not there, nor may MPI be called.
  static bool is_of_parent() noexcept;
  /// Throws std::logic_error if the process is such a child, in the name of `call`.
  static void check_process(char const* call);

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

  /// f() where MPI may be called by this thread: not if it is funnelled. At once if the thread is in such an f.
  template <class F>
  void here_in_turn(F f) {
    std::thread::id const me = std::this_thread::get_id();
    // relaxed: no other thread stores this thread's id
    if (threads_ == MPI_THREAD_MULTIPLE || whose_turn_.load(std::memory_order_relaxed) == me) return f();
    std::lock_guard const turn{turn_};
    whose_turn_.store(me, std::memory_order_relaxed);  // relaxed, here and below: as above
    f();
    whose_turn_.store({}, std::memory_order_relaxed);
  }

  /// Gives `c`. The caller waits for c.told then.
  void give(command& c) noexcept;
  /// Looks, if no other thread does: takes commands, and tests what is waited for. The commands that have ended, linked by `next`. In passing:
  /// the caller has other work, and looks again.
  command* look(bool in_passing = false) noexcept;
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
  bool is_first_for_a_while() noexcept;
  void test_requests(int times) noexcept;
  void take_ended(std::size_t n, bool some_failed) noexcept;
  void test_each() noexcept;
  void has_ended(std::size_t slot, int code, MPI_Status const& status) noexcept;
  void forget(std::size_t slot) noexcept;
  void test_others(int times) noexcept;

  int rank_ = 0, size_ = 1, threads_ = MPI_THREAD_SINGLE;
  bool serves_pools_ = true, finalises_ = false;
  MPI_Comm own_ = MPI_COMM_NULL;  // a copy of MPI_COMM_WORLD
  MPI_Errhandler before_world_ = MPI_ERRHANDLER_NULL, before_self_ = MPI_ERRHANDLER_NULL;
  peers peers_;

  std::thread thread_;
  std::thread::id id_;
  std::atomic<bool> sleeps_{false};
  std::atomic<bool> ending_{false};

  std::mutex turn_;                            // who is in MPI, with MPI_THREAD_SERIALIZED
  std::atomic<std::thread::id> whose_turn_{};  // who runs a function of here_in_turn
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
  bool closed_ = false;  // MPI is at its end
  std::chrono::steady_clock::time_point looked_in_passing_;
  std::vector<MPI_Request> requests_;  // what MPI_Testsome tests, and whose they are
  std::vector<owner> owners_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<std::size_t> order_;
  std::vector<wait_by_test*> others_;
  command* ended_ = nullptr;  // in this look
};

// ---- The source of a pool.

// Its idle workers look into the engine. Next: nopal/event_source.hpp; ../README.md.

class source final : public looker {
 public:
  explicit source(std::shared_ptr<engine> e) : looker{*e}, engine_{std::move(e)} { engine_->enter(*this); }
  ~source() override { engine_->leave(*this); }

  void poll() noexcept override;
  void wait() noexcept override;
  void wake() noexcept override;

 private:
  // A worker has looked for 0.1 ms at each search before it comes here. So it naps at once, longer each time.
  static constexpr std::int64_t first_nap = 5'000;
  static constexpr std::int64_t longest_nap = 100'000;  // nanoseconds
  static constexpr std::int64_t for_ever = -1;

  void sleep(std::int64_t nanoseconds) noexcept;

  std::shared_ptr<engine> const engine_;
  command* found_ = nullptr;  // by wait, for poll
  std::atomic<std::uint32_t> woken_{0};
};

}  // namespace nopal::mpi
