#pragma once

// pool: the workers, and the ways to give them work. Next: future.hpp, what submit returns; core/scheduler/scheduler.hpp, what a pool is
// made of.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include "nopal/after.hpp"
#include "nopal/core/report/report.hpp"
#include "nopal/core/scheduler/fiber_record.hpp"
#include "nopal/core/scheduler/scheduler.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/typed_job.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/core/task/awaiters.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/counter.hpp"
#include "nopal/future.hpp"
#include "nopal/options.hpp"
#include "nopal/priority.hpp"
#include "nopal/shutdown_result.hpp"
#include "nopal/stats.hpp"
#include "nopal/task.hpp"
#if NOPAL_PROFILES
#include "nopal/profile/forks.hpp"
#endif

namespace nopal::inline NOPAL_ABI {

class graph;
class pool;
struct simulation_report;

namespace core {
template <class T, class... U>
inline constexpr bool is_one_of = (std::is_same_v<T, U> || ...);
/// What the workers of default_pool() share, as default_pool_state; but null if that pool has not been made, or has no threads in this
/// process.
NOPAL_API pool_state* default_pool_state_if_any() noexcept;
/// A graph by its name (graph.hpp). A job runs it where it is, and does not keep it.
template <class F>
inline constexpr bool is_named_graph = std::is_same_v<F, graph&>;
/// nopal::shutdown, until `deadline`.
NOPAL_API NOPAL_COLD shutdown_result shut_down(time_point deadline);
struct default_pool_maker;
struct pool_access;
}  // namespace core

/// One worker of one pool, for resume_on. Valid as long as its pool.
class worker_ref {
 public:
  /// Its number, from 0.
  unsigned index() const noexcept { return worker_->index(); }

 private:
  friend class pool;
  friend core::move_awaiter resume_on(worker_ref w) noexcept;
  explicit worker_ref(core::worker& w) noexcept : worker_{&w} {}
  core::worker* worker_;
};

/// A set of worker threads. Any number of threads may use one pool at once. A callable is a coroutine function (it returns nopal::task<T>)
/// or an ordinary one. run and sync_wait leave the callable and its arguments with the caller, which waits. submit and detach keep the
/// callable, and each argument that is taken by value; they take references as fork does, to objects that have a name and outlive the job.
/// If the result is void, a number or an enum, what they keep is destroyed as a part of the job, before the future is ready. Else the result
/// may refer to it, and both are destroyed by whoever drops the last future, the result first; by the job, if nobody has one.
///
/// The threads block the signals that are meant for the program, and so does a process that a task starts, unless it sets another mask:
/// posix_spawn with POSIX_SPAWN_SETSIGMASK, pthread_sigmask between fork and exec.
class pool {
 public:
  pool() : pool{pool_options{}} {}
  /// Makes the workers and starts their threads. Throws std::invalid_argument for options that cannot be met, and for a NOPAL_WORKERS in
  /// the environment that is no number of workers if the options do not set that number; std::system_error if threads or the first native
  /// stacks cannot be made, or threads cannot be put on CPUs as the options want; std::bad_alloc.
  explicit(false) pool(pool_options const& options) : scheduler_{new core::scheduler{options}} { scheduler_->belongs_to(*this); }
  template <std::integral Workers>
  explicit pool(Workers) : pool{} {
    static_assert(!std::integral<Workers>, "nopal: a pool takes options. Write nopal::pool{{.workers = 4}} for pool{4}.");
  }
  pool(pool const&) = delete;
  pool& operator=(pool const&) = delete;
  /// Waits for everything that was submitted, detached and spawned. By a thread that does not work for this pool: else the program ends
  /// with a message. In two cases it neither waits nor frees: in the child of a fork, which has none of the threads; and if a job of this
  /// pool has called exit, and the pool is a static object, so that its workers run on until the process has ended.
  ~pool() { core::scheduler::end(scheduler_); }

  /// Runs f(args...) to its end; returns its value or rethrows its exception. The calling thread works too, in the place of a sleeping
  /// worker if there is one, and returns when its own job has ended. On a worker of this pool the job runs on top of the caller. Throws
  /// std::bad_alloc there, and the job has not started.
  template <class F, class... A>
    requires(!std::is_same_v<std::remove_cvref_t<F>, priority>)
  NOPAL_INLINE decltype(auto) run(F&& f, A&&... a) {
    using c = core::checked<core::way::waits, F&&, A&&...>;
    if constexpr (!c::ok) {
      return core::explained<core::way::waits, c::wrong>();
    } else {
      core::awaited_job<F&&, A&&...> r{static_cast<F&&>(f), static_cast<A&&>(a)...};
      r.pool = &state();
      core::run_and_wait(state(), r, r.done);
      return r.take();
    }
  }

  /// As run, but the job, and all that it begins, is as urgent as `p` says: priority.hpp. A thread that takes the place of a worker runs it
  /// at once in any case.
  template <class... X>
  NOPAL_PROFILED decltype(auto) run(priority p, X&&... x) {
    core::inside_priority const inside{p, state()};
    return run(static_cast<X&&>(x)...);
  }

  /// Gives f(args...) to some worker, and returns a future of its result. An exception that leaves the job is for the future's get();
  /// without a get() it ends the program with its message: future.hpp. A graph that has a name is run where it is, and must outlive the job
  /// (graph.hpp). Throws std::bad_alloc, and what keeping f and the arguments throws; the job has not started then.
  template <class F, class... A>
    requires(!core::is_one_of<std::remove_cvref_t<F>, std::stop_token, dependencies, priority>)
  NOPAL_PROFILED auto submit(F&& f, A&&... a) {
    return submit_in(core::region_here(), static_cast<F&&>(f), static_cast<A&&>(a)...);
  }
  /// As submit(f, args...), but the job begins when all of `d` have ended: after.hpp. If one has failed, f is not called, and the future has
  /// that exception, which is lost only if the failed one is not asked for it either; of a counter each job that begins after it has a copy,
  /// which its future must be asked for. The worker that ends the last of them runs the job
  /// next, if it works for this pool, unless a thief takes it. The pool's destructor waits for the job.
  template <class F, class... A>
  NOPAL_PROFILED auto submit(dependencies d, F&& f, A&&... a) {
    using c = core::checked<core::way::submits, F&&, A&&...>;
    if constexpr (core::is_named_graph<F>) {
      return submit(std::move(d), [&f] { f.run(); });
    } else if constexpr (!c::ok) {
      core::explained<core::way::submits, c::wrong>();
      return future<core::refused>{};
    } else {
      return core::future_access::make(core::submit_after(&state(), nullptr, core::region_here(), core::dependency_access::take(d),
                                                          static_cast<F&&>(f), static_cast<A&&>(a)...));
    }
  }
  /// As submit(f, args...), in a stop region of its own: the job, and all that it begins, is asked to stop when `token` is requested, or
  /// the region in which the caller runs: stop.hpp. The job still runs, and its future has what it returns or throws. Where each job
  /// submits the next, the last one is asked by the tokens of all before; these cost memory as long as they could be requested.
  template <class F, class... A>
  NOPAL_PROFILED auto submit(std::stop_token token, F&& f, A&&... a) {
    core::held_region const mine{core::make_region(std::move(token), core::time_point::max(), around_job())};
    return submit_in(mine.id(), static_cast<F&&>(f), static_cast<A&&>(a)...);
  }
  /// As the others, whose arguments follow, but the job, and all that it begins, is as urgent as `p` says: priority.hpp. A priority that is
  /// not the caller's costs some 100 ns.
  template <class... X>
  NOPAL_PROFILED auto submit(priority p, X&&... x) {
    core::inside_priority const inside{p, state()};
    return submit(static_cast<X&&>(x)...);
  }

  /// Asks all that this pool runs to stop, now and later: as if it ran in a region whose token is requested, except in nopal::without_stop.
  /// Waits without a time limit that began before, outside of all regions, do not end: they are not listed anywhere, so that they cost
  /// nothing more. It cannot be undone: to stop some work and run other work afterwards, use tokens. Any thread. It notifies waiters before
  /// it returns, O(waiters).
  void request_stop() noexcept { state().everything.request.make(); }
  /// True if request_stop was called. Any thread.
  bool stop_requested() const noexcept { return scheduler_->state().everything.request.is_made(); }

  /// As submit, but without a future. An exception that leaves the job ends the program with its message; nopal::stopped only ends the job.
  template <class F, class... A>
    requires(!std::is_same_v<std::remove_cvref_t<F>, priority>)
  NOPAL_PROFILED void detach(F&& f, A&&... a) {
    using c = core::checked<core::way::submits, F&&, A&&...>;
    if constexpr (!c::ok) {
      core::explained<core::way::submits, c::wrong>();
    } else {
      auto r = std::make_unique<core::detached_job<F&&, A&&...>>(static_cast<F&&>(f), static_cast<A&&>(a)...);
      r->pool = &state();
      core::submit(state(), *r.release());
    }
  }

  /// As detach(f, args...), with a priority, as submit.
  template <class... X>
  NOPAL_PROFILED void detach(priority p, X&&... x) {
    core::inside_priority const inside{p, state()};
    detach(static_cast<X&&>(x)...);
  }

  /// Starts f() as a fiber, as nopal::spawn, but always on this pool. Any thread may call: a worker of this pool or of another, or a thread
  /// that works for none.
  template <class F>
#if NOPAL_PROFILES
  NOPAL_PROFILED void spawn(F&& f, std::source_location where = std::source_location::current()) {
    core::spawn_measured(&state(), nullptr, static_cast<counter*>(nullptr), where, static_cast<F&&>(f));
#else
  void spawn(F&& f) {
    core::spawn(&state(), nullptr, static_cast<counter*>(nullptr), static_cast<F&&>(f));
#endif
  }
  /// Starts f() as a fiber on this pool, and `c` counts it: up now, down when it has ended.
  template <class F>
#if NOPAL_PROFILES
  NOPAL_PROFILED void spawn(counter& c, F&& f, std::source_location where = std::source_location::current()) {
    core::spawn_measured(&state(), nullptr, &c, where, static_cast<F&&>(f));
#else
  void spawn(counter& c, F&& f) {
    core::spawn_counted(&state(), nullptr, c, static_cast<F&&>(f));
#endif
  }

  /// As spawn(f), but the fiber begins when all of `d` have ended: after.hpp. If one has failed, it does not run.
  template <class F>
  void spawn(dependencies d, F&& f) {
    core::spawn_after(&state(), nullptr, core::dependency_access::take(d), static_cast<counter*>(nullptr), static_cast<F&&>(f));
  }
  /// As above, and `c` counts the fiber: up now, down when it has ended. If one of `d` has failed, `c` gets that exception, as from the
  /// fiber.
  template <class F>
  void spawn(dependencies d, counter& c, F&& f) {
    core::spawn_after(&state(), nullptr, core::dependency_access::take(d), &c, static_cast<F&&>(f));
  }

  /// As the others, whose arguments follow, with a priority, as submit.
  template <class... X>
    requires(sizeof...(X) > 0)
  NOPAL_PROFILED void spawn(priority p, X&&... x) {
    core::inside_priority const inside{p, state()};
    spawn(static_cast<X&&>(x)...);
  }

  /// The pool that the calling thread works for; null on a thread that works for none.
  NOPAL_API static pool* current() noexcept;

  /// Number of workers, at least 1.
  unsigned workers() const noexcept { return scheduler_->workers(); }
  /// Worker i. Throws std::out_of_range unless i < workers().
  NOPAL_API worker_ref worker(unsigned i) const&;
  worker_ref worker(unsigned i) const&& = delete;  // it would outlive its pool
  /// What the workers have counted so far, each number of its own moment. Linear in workers and native stacks. Throws std::bad_alloc.
  nopal::stats stats() const { return core::read_stats(scheduler_->state()); }
  /// What waits for what, for programs that have come to a stop: each native stack that is suspended, each task that waits without one, but
  /// at its join, and each thread that sleeps in nopal without working for a pool; the functions that wait, by name if the program has
  /// symbols; the owner of the mutex that is waited for, and mutexes whose owners wait for each other; a counter's value, and the message of
  /// the exception that it holds; for how long each has waited. "nothing waits" if so. Nothing is stopped for it, so each line is of its own moment. Takes milliseconds. In a library that was
  /// built without NDEBUG the pool prints it by itself if nothing has been able to run for a second. With NOPAL_REPORT=USR1 in the
  /// environment that signal prints the reports of all pools: docs/debugging.md. Throws std::bad_alloc.
  std::string report() const { return core::report(scheduler_->state()); }

 private:
  friend struct core::default_pool_maker;
  friend struct core::pool_access;
  friend core::move_awaiter resume_on(pool& p);
  friend std::optional<simulation_report> simulated(pool const& p);
  core::pool_state& state() noexcept { return scheduler_->state(); }

  /// The region around a job that gets one of its own: the caller's, else the pool's.
  core::region_id around_job() noexcept {
    core::region_id const r = core::inherited_region();
    return r != core::no_region ? r : state().everything_region.id();
  }
  template <class F, class... A>
  NOPAL_PROFILED auto submit_in(core::region_id region, F&& f, A&&... a) {
    using c = core::checked<core::way::submits, F&&, A&&...>;
    if constexpr (core::is_named_graph<F>) {
      return submit_in(region, [&f] { f.run(); });
    } else if constexpr (!c::ok) {
      core::explained<core::way::submits, c::wrong>();
      return future<core::refused>{};
    } else {
      using job = core::submitted_job<F&&, A&&...>;
      auto r = std::make_shared<job>(static_cast<F&&>(f), static_cast<A&&>(a)...);
      job& j = *r;
      std::shared_ptr<core::shared_result<typename job::result>> s = std::move(r);
      core::submit_kept(state(), region, j, j.own, s);
      return core::future_access::make(std::move(s));
    }
  }

  // No unique_ptr: jobs use the pool while its destructor waits for them, and LLVM's library makes the pointer null first.
  core::scheduler* const scheduler_;
};

namespace core {
/// For companions, which give a pool work of their own making, or look for their observer: what its workers share.
struct pool_access {
  static pool_state& state(pool& p) noexcept { return p.state(); }
};
}  // namespace core

/// The process's own pool, made on first use with default options. The environment variable NOPAL_WORKERS may set its number of workers, as
/// for every pool whose options do not, and NOPAL_KEEP_WARM for how many milliseconds they search before they sleep
/// (pool_options::keep_warm). Throws what the constructor of pool throws, and std::invalid_argument if one of the two is no such number.
///
/// It is never destroyed: static destructors, functions given to atexit, and threads that outlive main may use it until the process has
/// ended, and its threads end with the process, in the middle of any work. In the child of a fork, if the parent has made it, using it ends
/// the program with a message; after a shutdown there it is a new one.
NOPAL_API pool& default_pool();

/// Ends the threads of the default pool. Waits, for at most `timeout`, any duration, until everything has ended that was submitted to it,
/// detached or spawned on it, and every call of its run. The result is true then, or if there is no such pool or thread. If the time limit
/// expires first, the pool runs on, the result is false, and its report() says what the pool still has to do. A reference to the pool stays
/// valid. A later use, or one at the same time, starts its threads again; nothing is lost. In the child of a fork it forgets the pool of
/// the parent, without waiting. Throws std::logic_error on a thread that works for a pool; std::bad_alloc.
template <class Rep, class Period>
shutdown_result shutdown(std::chrono::duration<Rep, Period> timeout) {
  return core::shut_down(core::deadline_after(timeout));
}

/// `co_await resume_on(pool.worker(i))`: the task continues on that worker, on the worker's own thread. Throws std::bad_alloc, and the task
/// stays where it is. Between fork and join it throws std::logic_error, once the children have ended.
inline core::move_awaiter resume_on(worker_ref w) noexcept { return core::move_awaiter{*w.worker_}; }
/// `co_await resume_on(pool)`: the task continues on some worker of that pool. Throws as resume_on of a worker.
NOPAL_API core::move_awaiter resume_on(pool& p);

namespace this_worker {
/// The index of the worker that runs the caller, less than its pool's workers(). Callers that run at the same time on one pool get
/// different ones. Throws std::logic_error on a thread that works for no pool.
NOPAL_API unsigned index();
/// As index(), but returns `otherwise` on a thread that works for no pool.
NOPAL_API unsigned index_or(unsigned otherwise) noexcept;
}  // namespace this_worker

}  // namespace nopal
