#pragma once

// pool: the workers, and the ways to give them something to do.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nopal/core/root.hpp"
#include "nopal/core/scheduler.hpp"
#include "nopal/core/signature.hpp"
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

/// A callable, its arguments and its result. The callable is kept by value, and so are arguments of by-value parameters;
/// reference parameters refer to the caller's objects, as for fork.
template <class F, class... A>
class typed_root : public root {
  using called_type = std::decay_t<F>;
  using parameters = typename parameters_of<called_type, A...>::type;
  using returned = std::invoke_result_t<called_type&, A...>;

 public:
  using result = typename result_of_run<returned>::type;
  static constexpr bool is_coroutine = is_task<returned>;

  template <class G, class... B>
  explicit typed_root(G&& f, B&&... a) : f_(static_cast<G&&>(f)), args_{static_cast<B&&>(a)...} {
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
  template <class P, class B>
  struct kept {
    static_assert(!std::is_reference_v<P> || binds_for_long<P, B>,
                  "nopal::pool: this parameter is a reference and its argument is a temporary. Give the argument a name that outlives "
                  "the job, or let the function take it by value.");
    using type = std::conditional_t<std::is_reference_v<P>, P, std::remove_cv_t<P>>;
  };
  template <class List, class... B>
  struct tuple_for {
    using type = std::tuple<std::decay_t<B>...>;
  };
  template <class... P, class... B>
    requires(sizeof...(P) == sizeof...(B))
  struct tuple_for<parameter_list<P...>, B...> {
    using type = std::tuple<typename kept<P, B>::type...>;
  };
  using arguments = typename tuple_for<parameters, A...>::type;
  using held = std::conditional_t<std::is_reference_v<result>, std::remove_reference_t<result>*,
                                  std::conditional_t<std::is_void_v<result>, char, result>>;

  void begin() {
    try {
      begin_with(std::make_index_sequence<std::tuple_size_v<arguments>>{});
    } catch (...) {
      current()->start_threw();
    }
  }
  template <std::size_t... I>
  void begin_with(std::index_sequence<I...>) {
    // By-value arguments are handed over, references are passed on.
    auto const invoke = [this]() -> returned { return std::invoke(f_, static_cast<std::tuple_element_t<I, arguments>&&>(std::get<I>(args_))...); };
    if constexpr (is_coroutine) {
      worker* const w = current();
      constexpr std::uintptr_t bits = std::is_void_v<result> || std::is_reference_v<result> ? 0 : constructs;
      w->parent_word = reinterpret_cast<std::uintptr_t>(static_cast<root*>(this)) | rooted | bits;
      w->slot = &result_;
      (void)invoke();
    } else {
      current()->begin_without_tasks();
      if constexpr (std::is_void_v<result>) {
        invoke();
      } else if constexpr (std::is_reference_v<result>) {
        result_.emplace(std::addressof(invoke()));
      } else {
        result_.emplace(invoke());
      }
    }
  }

  called_type f_;
  [[no_unique_address]] arguments args_;
  eventually<held> result_;
};

/// A root that a thread waits for on its own stack.
template <class F, class... A>
class awaited_root final : public typed_root<F, A...> {
 public:
  template <class G, class... B>
  explicit awaited_root(G&& f, B&&... a) : typed_root<F, A...>{static_cast<G&&>(f), static_cast<B&&>(a)...} {
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
class submitted_root final : public typed_root<F, A...>, public shared_result<typename typed_root<F, A...>::result> {
 public:
  template <class G, class... B>
  explicit submitted_root(G&& f, B&&... a) : typed_root<F, A...>{static_cast<G&&>(f), static_cast<B&&>(a)...} {
    this->finish = [](root& r) noexcept {
      auto& self = static_cast<submitted_root&>(r);
      scheduler& owner = *self.pool;
      auto const alive = std::move(self.self_);  // until here the pool keeps it alive, whoever drops the future
      self.done.set();
      owner.finished();
    };
  }
  typename typed_root<F, A...>::result take() override { return typed_root<F, A...>::take(); }
  void keep(std::shared_ptr<submitted_root> self) noexcept { self_ = std::move(self); }
  using root::pool;

 private:
  std::shared_ptr<submitted_root> self_;
};

[[noreturn]] NOPAL_COLD void die_detached(std::exception_ptr e) noexcept;

template <class F, class... A>
class detached_root final : public typed_root<F, A...> {
 public:
  template <class G, class... B>
  explicit detached_root(G&& f, B&&... a) : typed_root<F, A...>{static_cast<G&&>(f), static_cast<B&&>(a)...} {
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
/// nopal::task<T>) or an ordinary one; arguments are taken as for fork.
///
/// The threads block the signals that are meant for the program, and so does a process that a task starts, unless it is told otherwise:
/// posix_spawn with POSIX_SPAWN_SETSIGMASK, pthread_sigmask between fork and exec.
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
    core::awaited_root<F, A&&...> r{static_cast<F&&>(f), static_cast<A&&>(a)...};
    r.pool = scheduler_.get();
    scheduler_->run(r, r.done);
    return r.take();
  }

  /// Starts f(args...) on some worker. Throws std::bad_alloc.
  template <class F, class... A>
  auto submit(F&& f, A&&... a) {
    using root = core::submitted_root<F, A&&...>;
    auto r = std::make_shared<root>(static_cast<F&&>(f), static_cast<A&&>(a)...);
    static_cast<core::root&>(*r).pool = scheduler_.get();
    static_cast<core::shared_result<typename root::result>&>(*r).pool = scheduler_.get();
    r->keep(r);
    scheduler_->submit(*r);
    return future<typename root::result>{std::move(r)};
  }

  /// As submit, but nobody waits. An exception that escapes terminates the program with its message. Throws std::bad_alloc.
  template <class F, class... A>
  void detach(F&& f, A&&... a) {
    auto r = std::make_unique<core::detached_root<F, A&&...>>(static_cast<F&&>(f), static_cast<A&&>(a)...);
    r->pool = scheduler_.get();
    scheduler_->submit(*r.release());
  }

  unsigned workers() const noexcept { return scheduler_->workers(); }
  /// i < workers(); throws std::out_of_range.
  worker_ref worker(unsigned i) const;
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
