#pragma once

// pool: the workers, and the ways to give them something to do.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "nopal/core/task/arguments.hpp"
#include "nopal/core/wait/completion.hpp"
#include "nopal/core/task/pack.hpp"
#include "nopal/core/scheduler/root.hpp"
#include "nopal/core/scheduler/scheduler.hpp"
#include "nopal/core/wait/timer.hpp"
#include "nopal/eventually.hpp"
#include "nopal/options.hpp"
#include "nopal/stats.hpp"
#include "nopal/task.hpp"

namespace nopal {

class counter;
class pool;
namespace core {
struct move_awaiter;
}

/// One worker of one pool: where resume_on goes. Valid as long as its pool.
class worker_ref {
 public:
  unsigned index() const noexcept { return worker_->index(); }

 private:
  friend class pool;
  friend core::move_awaiter resume_on(worker_ref w) noexcept;
  explicit worker_ref(core::worker& w) noexcept : worker_{&w} {}
  core::worker* worker_;
};

namespace core {

/// What a callable returns to whoever runs it on a pool: the task's T, or the ordinary result.
template <class R>
struct result_of_run {
  using type = R;
};
template <class T>
struct result_of_run<task<T>> {
  using type = T;
};

/// A callable, its arguments and its result. F, A...: as they were given, references; how they are kept: core/arguments.hpp.
template <way How, class F, class... A>
class typed_root : public root {
  using arguments = checked<How, F, A...>::arguments::type;
  using callable = std::conditional_t<How == way::waits, F, std::decay_t<F>>;
  template <class Pack>
  struct call_of;
  template <class... P>
  struct call_of<pack<P...>> {
    using callee_type = callee<How, F, P...>::type;
    using returned = std::invoke_result_t<callee_type, P...>;
    static pack<P...> keep(A... a) { return make_pack<P...>(static_cast<A>(a)...); }
    // By-value arguments are handed over, references are passed on.
    static returned invoke(callable& f, pack<P...>& args) {
      return args.apply([&](auto&... a) -> returned { return std::invoke(static_cast<callee_type>(f), static_cast<P&&>(a)...); });
    }
  };
  using call = call_of<arguments>;

 public:
  using result = std::remove_cv_t<typename result_of_run<std::remove_cv_t<typename call::returned>>::type>;
  static constexpr bool is_coroutine = is_task<std::remove_cv_t<typename call::returned>>;
  static_assert(std::is_void_v<result> || std::is_reference_v<result> || std::is_move_constructible_v<result>,
                "nopal: what this function returns cannot be moved to who waits for it. Let it fill an object of the caller's.");

  explicit typed_root(F f, A... a) : f_(static_cast<F>(f)), args_(call::keep(static_cast<A>(a)...)) {
    start = [](root& r) { static_cast<typed_root&>(r).begin(); };
  }

  /// The result, or the exception. Once, after the end.
  result take() {
    if (error != nullptr) std::rethrow_exception(std::exchange(error, nullptr));
    if constexpr (std::is_reference_v<result>) {
      return static_cast<result>(**result_);
    } else if constexpr (!std::is_void_v<result>) {
      return std::move(*result_);
    }
  }

  /// If that is what is called.
  void const* function() const noexcept {
    using kept = std::remove_cvref_t<callable>;
    if constexpr (std::is_pointer_v<kept> && std::is_function_v<std::remove_pointer_t<kept>>) {
      return reinterpret_cast<void const*>(f_);
    } else {
      return nullptr;
    }
  }

 private:
  using held = std::conditional_t<std::is_reference_v<result>, std::remove_reference_t<result>*,
                                  std::conditional_t<std::is_void_v<result>, char, result>>;

  void begin() {
    try {
      begin_call();
    } catch (...) {
      current()->start_threw();
    }
  }
  void begin_call() {
    if constexpr (is_coroutine) {
      worker* const w = current();
      constexpr std::uintptr_t bits = std::is_void_v<result> || std::is_reference_v<result> ? 0 : constructs;
      w->parent_word = reinterpret_cast<std::uintptr_t>(static_cast<root*>(this)) | rooted | bits;
      w->slot = &result_;
      static_cast<void>(call::invoke(f_, args_));
    } else {
      current()->begin_without_tasks();
      if constexpr (std::is_void_v<result>) {
        call::invoke(f_, args_);
      } else if constexpr (std::is_reference_v<result>) {
        auto&& there = call::invoke(f_, args_);
        result_.emplace(std::addressof(there));
      } else {
        result_.emplace(call::invoke(f_, args_));
      }
    }
  }

  callable f_;
  arguments args_;
  eventually<held> result_;
};

/// A root that a thread waits for on its own stack.
template <class F, class... A>
class awaited_root final : public typed_root<way::waits, F, A...> {
 public:
  explicit awaited_root(F f, A... a) : typed_root<way::waits, F, A...>{static_cast<F>(f), static_cast<A>(a)...} {
    this->finish = [](root& r) noexcept { static_cast<awaited_root&>(r).done.set(); };
  }
  event done;
};

/// What a future shares with its job.
template <class R>
struct shared_result {
  virtual ~shared_result() = default;
  /// The result, or the exception thrown. Once, after the end.
  virtual R take() = 0;
  /// The exception, or null. After the end.
  virtual std::exception_ptr thrown() const noexcept = 0;
  completion done;
};

template <class F, class... A>
class submitted_root final : public typed_root<way::submits, F, A...>,
                             public shared_result<typename typed_root<way::submits, F, A...>::result> {
 public:
  explicit submitted_root(F f, A... a) : typed_root<way::submits, F, A...>{static_cast<F>(f), static_cast<A>(a)...} {
    this->finish = [](root& r) noexcept {
      auto& self = static_cast<submitted_root&>(r);
      scheduler& owner = *self.pool;
      auto const alive = std::move(self.self_);  // until here the pool keeps it alive, whoever drops the future
      self.done.set();
      owner.finished();
    };
  }
  typename typed_root<way::submits, F, A...>::result take() override { return typed_root<way::submits, F, A...>::take(); }
  std::exception_ptr thrown() const noexcept override { return this->error; }
  void keep(std::shared_ptr<submitted_root> self) noexcept { self_ = std::move(self); }

 private:
  std::shared_ptr<submitted_root> self_;
};

/// `function`: null, if its name is that of the closure whose code has called here.
NOPAL_API [[noreturn]] NOPAL_COLD void die_detached(std::exception_ptr e, void const* function) noexcept;

template <class F, class... A>
class detached_root final : public typed_root<way::submits, F, A...> {
 public:
  explicit detached_root(F f, A... a) : typed_root<way::submits, F, A...>{static_cast<F>(f), static_cast<A>(a)...} {
    this->finish = [](root& r) noexcept {
      auto& self = static_cast<detached_root&>(r);
      if (self.error != nullptr) die_detached(self.error, self.function());
      scheduler& owner = *self.pool;
      delete &self;
      owner.finished();
    };
  }
};

/// The error for resume_on between fork and join.
NOPAL_API std::exception_ptr move_misuse() noexcept;

/// Moves the awaiting task to one worker.
struct move_awaiter : awaitable_tag, move_job {
  explicit move_awaiter(worker& target) noexcept { to = &target; }
  move_awaiter in(frame& f) noexcept {
    task = &f;
    return std::move(*this);
  }
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise>) {
    if ((task->state & frame::open) != 0) return current()->fail(task, move_misuse());
    return current()->move(*this);
  }
  void await_resume() const {
    if (current()->must_throw()) [[unlikely]] current()->rethrow();
  }
};

}  // namespace core

template <class R>
class future;

namespace core {

/// co_await f, for a future.
template <class R>
class future_awaiter : public stack_awaiter {
 public:
  future_awaiter(future<R>& f, frame& t) noexcept : stack_awaiter{t}, what_{f} {}
  bool await_ready() {
    return wait([this] { what_.wait_and_throw(); });
  }
  R await_resume() {
    rethrow_if_failed();
    return what_.get();
  }

 private:
  future<R>& what_;
};

}  // namespace core

/// The result of pool::submit, for one get() or `co_await`. Dropping it does not stop or wait for the job. Any number of threads may wait
/// for it at once, but one takes the result. It may outlive its pool. An empty one, without a job or with its result taken, throws
/// std::logic_error from all but valid().
///
///     auto f = pool.submit(fib, 30);
///     long const x = co_await f;      // in a task, also between fork and join; f.get() anywhere
template <class R>
class future : public core::awaitable_tag {
 public:
  future() noexcept = default;

  bool valid() const noexcept { return state_ != nullptr; }
  bool ready() const { return state("future::ready()").done.is_set(); }
  /// Parks: the fiber, task or function leaves its native stack, and the worker does something else; a thread off a pool sleeps.
  void wait() const { state("future::wait()").done.wait(); }
  /// The same with a time limit, of whatever clock. False: it came first. Throws std::bad_alloc, std::system_error where there is no memory
  /// or thread for time limits.
  template <class Clock, class Duration>
  bool wait_until(std::chrono::time_point<Clock, Duration> limit) const {
    auto& s = state("future::wait_until()");
    return core::by_clock(limit, [&](core::time_point t) { return s.done.wait_until(t); });
  }
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> timeout) const {
    return state("future::wait_for()").done.wait_until(core::limit_after(timeout));
  }
  /// Waits; the value, or the exception rethrown. Afterwards the future is not valid.
  R get() {
    state("future::get()").done.wait();
    auto const s = std::exchange(state_, nullptr);
    return s->take();
  }

  /// For `co_await`.
  core::future_awaiter<R> in(core::frame& task) noexcept { return {*this, task}; }

 private:
  friend class pool;
  friend core::future_awaiter<R>;
  explicit future(std::shared_ptr<core::shared_result<R>> s) noexcept : state_{std::move(s)} {}

  void wait_and_throw() {
    auto& s = state("co_await");
    s.done.wait();
    if (s.thrown() != nullptr) static_cast<void>(get());
  }
  core::shared_result<R>& state(char const* asked) const {
    if (state_ == nullptr) [[unlikely]] core::throw_empty_future(asked);
    return *state_;
  }
  std::shared_ptr<core::shared_result<R>> state_;
};

/// A set of worker threads. Any number of threads may use one pool at once. A callable is a coroutine function (it returns
/// nopal::task<T>) or an ordinary one. run and sync_wait leave it and its arguments with their caller, who waits; submit and detach keep
/// the callable, and what is taken by value, and take references as fork does: to objects that have a name and outlive the job.
///
/// The threads block the signals that are meant for the program, and so does a process that a task starts, unless it is told otherwise:
/// posix_spawn with POSIX_SPAWN_SETSIGMASK, pthread_sigmask between fork and exec.
class pool {
 public:
  pool() : pool{pool_options{}} {}
  /// Throws std::invalid_argument for options that cannot be met, std::system_error when threads cannot be made or pinned.
  explicit(false) pool(pool_options const& options) : scheduler_{std::make_unique<core::scheduler>(options)} {
    scheduler_->belongs_to(*this);
  }
  pool(pool const&) = delete;
  pool& operator=(pool const&) = delete;
  /// Waits for everything that was submitted and detached.
  ~pool() = default;

  /// Runs f(args...) to its end; returns its value or rethrows its exception. The calling thread works too, in the place of a sleeping
  /// worker, and returns when its own job is done. On a worker of this pool it runs on top of the caller. Throws std::bad_alloc there, and
  /// has not started.
  template <class F, class... A>
  NOPAL_INLINE decltype(auto) run(F&& f, A&&... a) {
    using c = core::checked<core::way::waits, F&&, A&&...>;
    if constexpr (!c::ok) {
      return core::explained<core::way::waits, c::wrong>();
    } else {
      core::awaited_root<F&&, A&&...> r{static_cast<F&&>(f), static_cast<A&&>(a)...};
      r.pool = scheduler_.get();
      scheduler_->run(r, r.done);
      return r.take();
    }
  }

  /// Starts f(args...) on some worker. Throws std::bad_alloc.
  template <class F, class... A>
  auto submit(F&& f, A&&... a) {
    using c = core::checked<core::way::submits, F&&, A&&...>;
    if constexpr (!c::ok) {
      core::explained<core::way::submits, c::wrong>();
      return future<core::refused>{};
    } else {
      using root = core::submitted_root<F&&, A&&...>;
      auto r = std::make_shared<root>(static_cast<F&&>(f), static_cast<A&&>(a)...);
      r->pool = scheduler_.get();
      r->keep(r);
      scheduler_->submit(*r);
      return future<typename root::result>{std::move(r)};
    }
  }

  /// As submit, but nobody waits. An exception that escapes terminates the program with its message. Throws std::bad_alloc.
  template <class F, class... A>
  void detach(F&& f, A&&... a) {
    using c = core::checked<core::way::submits, F&&, A&&...>;
    if constexpr (!c::ok) {
      core::explained<core::way::submits, c::wrong>();
    } else {
      auto r = std::make_unique<core::detached_root<F&&, A&&...>>(static_cast<F&&>(f), static_cast<A&&>(a)...);
      r->pool = scheduler_.get();
      scheduler_->submit(*r.release());
    }
  }

  /// As nopal::spawn, but on this pool, whoever calls: one of its workers, another pool's, or a thread that works for none.
  template <class F>
  void spawn(F&& f);
  /// The same, and `c` counts it: up now, down when it has ended.
  template <class F>
  void spawn(counter& c, F&& f);

  /// The pool that the calling thread works for; null on a thread that works for none.
  NOPAL_API static pool* current() noexcept;

  unsigned workers() const noexcept { return scheduler_->workers(); }
  /// i < workers(); throws std::out_of_range.
  NOPAL_API worker_ref worker(unsigned i) const&;
  worker_ref worker(unsigned i) const&& = delete;  // it would outlive its pool
  nopal::stats stats() const { return scheduler_->read_stats(); }
  /// What waits for what, for programs that have come to a stop: each native stack that has been left, and each thread that sleeps in
  /// nopal without working for a pool; the functions that wait, by name where the program has symbols; who has the mutex that is waited for,
  /// and mutexes whose owners wait for each other; a counter's value, and what the exception says that it holds. "nothing waits" if so.
  /// Nothing is stopped for it, so each line is of its own moment. Takes milliseconds. In builds without NDEBUG the pool prints it by
  /// itself where nothing has been able to run for a second. Throws std::bad_alloc.
  std::string report() const { return scheduler_->report(); }

 private:
  friend core::move_awaiter resume_on(pool& p);
  friend core::scheduler& core::default_scheduler();
  std::unique_ptr<core::scheduler> scheduler_;
};

/// The process's own pool, made on first use with default options, but that the environment variable NOPAL_WORKERS may say how many
/// workers; one that is no number of workers throws std::invalid_argument.
NOPAL_API pool& default_pool();

/// `co_await resume_on(pool.worker(i))`: the task goes on there, on that worker's own thread. Between fork and join
/// std::logic_error, once the children have ended. Throws std::bad_alloc, and stays where it is.
inline core::move_awaiter resume_on(worker_ref w) noexcept { return core::move_awaiter{*w.worker_}; }
/// `co_await resume_on(pool)`: the task goes on on some worker of that pool.
NOPAL_API core::move_awaiter resume_on(pool& p);

namespace this_worker {
/// The index of the worker that runs the caller, below its pool's workers(); two that run at once differ. Throws std::logic_error
/// on a thread that works for no pool.
NOPAL_API unsigned index();
/// The same, but `otherwise` on a thread that works for no pool.
NOPAL_API unsigned index_or(unsigned otherwise) noexcept;
}  // namespace this_worker

}  // namespace nopal

#include "nopal/fiber.hpp"  // pool::spawn
