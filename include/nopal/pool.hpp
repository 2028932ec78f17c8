#pragma once

// pool: the workers, and the ways to give them something to do.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "nopal/core/arguments.hpp"
#include "nopal/core/pack.hpp"
#include "nopal/core/root.hpp"
#include "nopal/core/scheduler.hpp"
#include "nopal/eventually.hpp"
#include "nopal/options.hpp"
#include "nopal/stats.hpp"
#include "nopal/task.hpp"

namespace nopal {

class pool;
namespace core {
struct move_awaiter;
/// For a fiber spawned off a pool.
NOPAL_COLD void spawn_from_outside(pool& on, job& j) noexcept;
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
  virtual R take() = 0;
  event done;
  scheduler* pool = nullptr;
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
  void keep(std::shared_ptr<submitted_root> self) noexcept { self_ = std::move(self); }
  using root::pool;

 private:
  std::shared_ptr<submitted_root> self_;
};

[[noreturn]] NOPAL_COLD void die_detached(std::exception_ptr e) noexcept;

template <class F, class... A>
class detached_root final : public typed_root<way::submits, F, A...> {
 public:
  explicit detached_root(F f, A... a) : typed_root<way::submits, F, A...>{static_cast<F>(f), static_cast<A>(a)...} {
    this->finish = [](root& r) noexcept {
      auto& self = static_cast<detached_root&>(r);
      if (self.error != nullptr) die_detached(self.error);
      scheduler& owner = *self.pool;
      delete &self;
      owner.finished();
    };
  }
};

/// The error for resume_on between fork and join.
std::exception_ptr move_misuse() noexcept;

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

/// The result of pool::submit, for one get(). Dropping it does not stop or wait for the job.
template <class R>
class future {
 public:
  future() noexcept = default;

  bool valid() const noexcept { return state_ != nullptr; }
  bool ready() const noexcept { return state_->done.is_set(); }
  /// Blocks; on a worker other work goes on meanwhile.
  void wait() const {
    if (!ready()) state_->pool->wait(state_->done);
  }
  /// True: the result is there. On a worker this blocks the worker for that time.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> d) const {
    auto const until = std::chrono::steady_clock::now() + d;
    while (!ready()) {
      auto const left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now()).count();
      if (left <= 0) return false;
      state_->done.wait_for(left);
    }
    return true;
  }
  /// Waits; the value, or the exception rethrown. Afterwards the future is not valid.
  R get() {
    wait();
    auto const s = std::exchange(state_, nullptr);
    return s->take();
  }

 private:
  friend class pool;
  explicit future(std::shared_ptr<core::shared_result<R>> s) noexcept : state_{std::move(s)} {}
  std::shared_ptr<core::shared_result<R>> state_;
};

/// A set of worker threads. Any number of threads may use one pool at once. A callable is a coroutine function (it returns
/// nopal::task<T>) or an ordinary one. run and sync_wait leave it and its arguments with their caller, who waits; submit and detach keep
/// the callable, and what is taken by value, and take references as fork does: to objects that have a name and outlive the job.
class pool {
 public:
  pool() : pool{pool_options{}} {}
  /// Throws std::invalid_argument for options that cannot be met, std::system_error when threads cannot be made or pinned.
  explicit(false) pool(pool_options const& options) : scheduler_{std::make_unique<core::scheduler>(options)} {}
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
      static_cast<core::root&>(*r).pool = scheduler_.get();
      static_cast<core::shared_result<typename root::result>&>(*r).pool = scheduler_.get();
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

  unsigned workers() const noexcept { return scheduler_->workers(); }
  /// i < workers(); throws std::out_of_range.
  worker_ref worker(unsigned i) const&;
  worker_ref worker(unsigned i) const&& = delete;  // it would outlive its pool
  nopal::stats stats() const { return scheduler_->read_stats(); }
  /// What waits for what: a line for each native stack that has been left, or "nothing waits". For programs that have come to a stop.
  /// In builds without NDEBUG the pool prints it by itself where nothing has been able to run for a second. Throws std::bad_alloc.
  std::string report() const { return scheduler_->report(); }

 private:
  friend core::move_awaiter resume_on(pool& p);
  friend void core::spawn_from_outside(pool& on, core::job& j) noexcept;
  std::unique_ptr<core::scheduler> scheduler_;
};

/// The process's own pool, made with default options on first use.
pool& default_pool();

/// `co_await resume_on(pool.worker(i))`: the task goes on there, on that worker's own thread. Between fork and join
/// std::logic_error, once the children have ended. Throws std::bad_alloc, and stays where it is.
inline core::move_awaiter resume_on(worker_ref w) noexcept { return core::move_awaiter{*w.worker_}; }
/// `co_await resume_on(pool)`: the task goes on on some worker of that pool.
core::move_awaiter resume_on(pool& p);

namespace this_worker {
/// The index of the worker that runs the caller, below its pool's workers(); two that run at once differ. Throws std::logic_error
/// on a thread that works for no pool.
unsigned index();
}  // namespace this_worker

}  // namespace nopal
