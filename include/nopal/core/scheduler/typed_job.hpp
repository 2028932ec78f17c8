#pragma once

// A job with its callable, arguments and result: what pool::run, submit and detach make of it. Next: submission.hpp, the part of it that
// the scheduler knows.

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/observe/profile_hooks.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/core/task/pack.hpp"
#include "nopal/core/task/slow_path.hpp"
#include "nopal/core/wait/completion.hpp"
#include "nopal/core/wait/event.hpp"
#include "nopal/eventually.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What running a callable on a pool returns: T for a task<T>, else the ordinary result.
template <class R>
struct result_of_run {
  using type = R;
};
template <class T>
struct result_of_run<task<T>> {
  using type = T;
};

/// How a result is kept: a reference as a pointer.
template <class R>
using held_result = std::conditional_t<std::is_reference_v<R>, std::remove_reference_t<R>*, std::conditional_t<std::is_void_v<R>, char, R>>;
/// What those see who do not take the result with them: R const&; a reference or void as it is.
template <class R>
struct look_at {
  using type = R const&;
};
template <class R>
  requires std::is_reference_v<R> || std::is_void_v<R>
struct look_at<R> {
  using type = R;
};
template <class R>
using looked_at = look_at<R>::type;

/// How a job calls: F, A... are references, as the callable and its arguments were given. How they are kept: task/arguments.hpp.
template <way How, class F, class... A>
struct call_of_job {
  using arguments = checked<How, F, A...>::arguments::type;
  using callable = std::conditional_t<How == way::waits, F, std::decay_t<F>>;
  template <class Pack>
  struct with;
  template <class... P>
  struct with<pack<P...>> {
    using callee_type = callee<How, F, P...>::type;
    using returned = std::invoke_result_t<callee_type, P...>;
    static pack<P...> keep(A... a) { return core::make_pack<P...>(static_cast<A>(a)...); }
    // By-value arguments are handed over, references are passed on.
    static returned invoke(callable& f, pack<P...>& args) {
      return args.apply([&](auto&... a) -> returned { return std::invoke(static_cast<callee_type>(f), static_cast<P&&>(a)...); });
    }
  };
  using call = with<arguments>;
  using result = std::remove_cv_t<typename result_of_run<std::remove_cv_t<typename call::returned>>::type>;
};

/// A part of what a job calls. EndsEarly: it has a destructor, and may end before the job.
template <class T, bool EndsEarly>
class part_of_call {
 public:
  static constexpr bool ends_early = false;
  /// make(): makes the T where it is kept.
  template <class Make>
  explicit part_of_call(Make make) : value_(make()) {}
  T& operator*() noexcept { return value_; }
  T const& operator*() const noexcept { return value_; }
  void end() noexcept {}

 private:
  T value_;
};
template <class T>
class part_of_call<T, true> {
 public:
  static constexpr bool ends_early = true;
  template <class Make>
  explicit part_of_call(Make make) : value_(make()) {}
  part_of_call(part_of_call const&) = delete;
  part_of_call& operator=(part_of_call const&) = delete;
  ~part_of_call() { end(); }
  T& operator*() noexcept { return value_; }
  void end() noexcept {
    if (std::exchange(is_there_, false)) std::destroy_at(std::addressof(value_));
  }

 private:
  union {
    T value_;
  };
  bool is_there_ = true;
};
/// A result that refers to nothing of what the job has called. Then that ends once the call has: before others know of the job's end.
template <class R>
inline constexpr bool refers_to_nothing = std::is_void_v<R> || std::is_arithmetic_v<R> || std::is_enum_v<R>;

/// What a job calls, as it keeps that. It is the first part of the job: made before its profile begins, and gone after its result, or by
/// end_call.
template <way How, class F, class... A>
class kept_call {
  using as = call_of_job<How, F, A...>;
  static constexpr bool may_end = How == way::submits && refers_to_nothing<typename as::result>;
  template <class T>
  using part = part_of_call<T, may_end && !std::is_reference_v<T> && !std::is_trivially_destructible_v<T>>;

 protected:
  explicit kept_call(F f, A... a)
      : f_{[&]() -> decltype(auto) { return typename as::callable(static_cast<F>(f)); }},
        args_{[&] { return as::call::keep(static_cast<A>(a)...); }} {}

  part<typename as::callable> f_;
  part<typename as::arguments> args_;
};

/// A job with a result of type R, whatever it calls.
template <class R>
class NOPAL_PROFILED job_of : public job {
 public:
  /// The result, or the exception rethrown, of which others may want a copy. Once, after the end.
  R take(bool leaves_exception = false) {
    profile_.taken();
    if (error != nullptr) std::rethrow_exception(leaves_exception ? error : std::exchange(error, nullptr));
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(**result_);
    } else if constexpr (!std::is_void_v<R>) {
      return std::move(*result_);
    }
  }

  /// The result where it is, which stays; or the exception rethrown, and kept. After the end, by any number of threads.
  looked_at<R> look() const {
    if (error != nullptr) std::rethrow_exception(error);
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(**result_);
    } else if constexpr (!std::is_void_v<R>) {
      return *result_;
    }
  }

 protected:
  /// `waits`: the one who makes the job waits for its end.
  explicit job_of(bool waits) : profile_{waits} {}

  eventually<held_result<R>> result_;
  [[no_unique_address]] job_profile profile_;
};

/// A callable, its arguments and its result. F, A...: references, as they were given.
template <way How, class F, class... A>
class NOPAL_PROFILED typed_job : private kept_call<How, F, A...>, public job_of<typename call_of_job<How, F, A...>::result> {
  using kept = kept_call<How, F, A...>;
  using call = call_of_job<How, F, A...>::call;

 public:
  using result = call_of_job<How, F, A...>::result;
  static constexpr bool is_coroutine = is_task<std::remove_cv_t<typename call::returned>>;
  static_assert(std::is_void_v<result> || std::is_reference_v<result> || std::is_move_constructible_v<result>,
                "nopal: what this function returns cannot be moved to the caller that waits for it. "
                "Let it fill an object of the caller's.");

  explicit typed_job(F f, A... a) : kept{static_cast<F>(f), static_cast<A>(a)...}, job_of<result>{How == way::waits} {
    this->start = [](job& r) { static_cast<typed_job&>(r).begin(); };
  }

  /// Address of the called function, for messages; null if the callable is no pointer to a function.
  void const* function() const noexcept {
    using callable = std::remove_cvref_t<typename call_of_job<How, F, A...>::callable>;
    if constexpr (std::is_pointer_v<callable> && std::is_function_v<std::remove_pointer_t<callable>>) {
      return reinterpret_cast<void const*>(*this->f_);
    } else {
      return nullptr;
    }
  }

 protected:
  void begin() {
    try {
      begin_call();
    } catch (...) {
      start_threw(*current());
    }
  }
  /// The call has ended, or has never begun: destroys what was called, and its arguments, if the result cannot refer to them. First of all
  /// that `finish` does, on a worker.
  void end_call() noexcept {
    if constexpr (decltype(this->f_)::ends_early || decltype(this->args_)::ends_early) {
      functions_at_base const destructors;
      this->args_.end();
      this->f_.end();
    }
  }

 private:
  void begin_call() {
    if constexpr (is_coroutine) {
      worker* const w = current();
      constexpr std::uintptr_t bits = std::is_void_v<result> || std::is_reference_v<result> ? 0 : constructs;
      w->parent_word = reinterpret_cast<std::uintptr_t>(static_cast<job*>(this)) | of_job | bits;
      w->slot = std::addressof(this->result_);
      this->profile_.begin_task();
      static_cast<void>(call::invoke(*this->f_, *this->args_));
    } else {
      current()->begin_without_tasks();
      [[maybe_unused]] auto const measured = this->profile_.begin_function();
      if constexpr (std::is_void_v<result>) {
        call::invoke(*this->f_, *this->args_);
      } else if constexpr (std::is_reference_v<result>) {
        auto&& there = call::invoke(*this->f_, *this->args_);
        this->result_.emplace(std::addressof(there));
      } else {
        eventually_access::make(this->result_, [this]() -> decltype(auto) { return call::invoke(*this->f_, *this->args_); });
      }
    }
  }
};

/// The job of pool::run. It is stored in the frame of the caller, which waits for it.
template <class F, class... A>
class NOPAL_PROFILED awaited_job final : public typed_job<way::waits, F, A...> {
 public:
  explicit awaited_job(F f, A... a) : typed_job<way::waits, F, A...>{static_cast<F>(f), static_cast<A>(a)...} {
    this->finish = [](job& r) noexcept { static_cast<awaited_job&>(r).done.set(); };
  }
  event done;
};

/// An exception left a job that pool::detach was given, or one of pool::submit whose future is gone. Ends the program, unless the exception
/// is `stopped`, which was asked for. `function`: what was called; null if the message is to name the closure whose code has called here.
NOPAL_API NOPAL_COLD void detached_threw(std::exception_ptr const& e, void const* function) noexcept;
NOPAL_API NOPAL_COLD void dropped_threw(std::exception_ptr const& e, void const* function) noexcept;

/// What futures share with what makes their result, whatever its type. Any thread may wait for `done`.
class any_result {
 public:
  any_result(any_result const&) = delete;
  any_result& operator=(any_result const&) = delete;
  virtual ~any_result() = default;  // inline: a debugger knows a class from the program that has its first virtual function
  /// The exception, or null. After the end. It stays as long as this does.
  virtual std::exception_ptr thrown() const noexcept = 0;

  completion done;
  /// Others than the future's owner look at the exception too, so take() leaves it here. Else it belongs to whoever takes it, and is freed
  /// where that is done with it. relaxed, all: set through the future on which take() is called later.
  std::atomic<bool> is_followed{false};
  /// `done` is set on a worker; else any thread may set it.
  bool const ends_on_worker;

  /// The exception need not end the program when nobody is left who may get it: somebody has got it; or a future was destroyed by an
  /// exception that unwinds, which counts more. The latter may come before the end, while another thread calls fail_with: each writes its
  /// own word first and then reads the other's, in the one order of seq_cst, so at least one of the two tells `first`.
  void let_exception_go() noexcept {
    is_let_go_.store(true, std::memory_order_seq_cst);
    if (any_result* const first = failed_at_.load(std::memory_order_seq_cst); first != nullptr) first->go();
  }
  /// The exception is that of `first`, which this had to begin after: it is lost only where that of `first` is. Before the end.
  void fail_with(std::shared_ptr<any_result> first) noexcept {
    failed_with_ = first->failed_with_ != nullptr ? first->failed_with_ : std::move(first);
    failed_at_.store(failed_with_.get(), std::memory_order_seq_cst);
    if (is_let_go_.load(std::memory_order_seq_cst)) failed_with_->go();
  }

 protected:
  explicit any_result(bool on_worker) noexcept : ends_on_worker{on_worker} {}
  /// By the destroyer of a job that has thrown `e`: ends the program, as dropped_threw, if that got lost.
  NOPAL_API NOPAL_COLD void end_if_lost(std::exception_ptr const& e, void const* function) const noexcept;

 private:
  // relaxed: read by the thread that gives up the last share, and the count of shares orders the two
  void go() noexcept { is_let_go_.store(true, std::memory_order_relaxed); }

  std::atomic<bool> is_let_go_{false};
  std::shared_ptr<any_result> failed_with_;  // keeps what failed_at_ refers to. Before the end; then it stays
  std::atomic<any_result*> failed_at_{nullptr};
};

/// What futures share with what makes a result of type R.
template <class R>
class shared_result : public any_result {
 public:
  using any_result::any_result;
  /// The result, or the exception rethrown. Once, after the end.
  virtual R take() = 0;
  /// The result where it is, or the exception rethrown. After the end; but not after take, nor at the same time.
  virtual looked_at<R> look() = 0;
};

/// What a submitted job has beside its callable: itself, which it keeps alive until it has ended, and fiber-local values of its own, since
/// nobody waits for it where it was given.
struct NOPAL_API kept_job {
  kept_job() noexcept = default;
  kept_job(kept_job const&) = delete;
  kept_job& operator=(kept_job const&) = delete;
  ~kept_job();

  std::shared_ptr<void> self;
  fiber_values values;
};
/// The rest of a job that nobody waits for where it was given is destroyed while this lives: as by an ordinary function, in the job's stop
/// region, and with its fiber-local values. Then these end, and the region, and last of all the job is no longer pending.
class NOPAL_API rest_of_job {
 public:
  /// The values become this object's, since the job may die first.
  rest_of_job(job& r, fiber_values& values) noexcept;
  rest_of_job(rest_of_job const&) = delete;
  rest_of_job& operator=(rest_of_job const&) = delete;
  ~rest_of_job();

 private:
  pool_state& pool_;
  region_id const region_;  // which submit holds
  fiber_values values_;
};
/// While it lives, the pool in which a job ends has it as pending, if the job is a task that has come there from the pool that it was given to.
/// Only a task may: MayMove.
template <bool MayMove>
class pending_where_it_ends {
 public:
  explicit pending_where_it_ends(job const&) noexcept {}
};
template <>
class NOPAL_API pending_where_it_ends<true> {
 public:
  explicit pending_where_it_ends(job const& r) noexcept;
  pending_where_it_ends(pending_where_it_ends const&) = delete;
  pending_where_it_ends& operator=(pending_where_it_ends const&) = delete;
  ~pending_where_it_ends();

 private:
  pool_state* const pool_;  // null: it is the pool that the job was given to
};
/// The end of a submitted job, after end_call: job::finish. It may be gone when this returns.
NOPAL_API void end_submitted(job& r, kept_job& k, completion& done) noexcept;

/// What futures share with a submitted job. It is a part of that.
template <class R>
class NOPAL_PROFILED submitted_result : public shared_result<R> {
 public:
  R take() final {
    if (made_.error != nullptr) this->let_exception_go();
    return made_.take(this->is_followed.load(std::memory_order_relaxed));  // relaxed: see is_followed
  }
  looked_at<R> look() final {
    if (made_.error != nullptr) this->let_exception_go();
    return made_.look();
  }
  std::exception_ptr thrown() const noexcept final { return made_.error; }

 protected:
  explicit submitted_result(job_of<R>& made) noexcept : shared_result<R>{true}, made_{made} {}

 private:
  job_of<R>& made_;
};

/// The job of pool::submit. It keeps itself alive until it has ended; then its future does.
template <class F, class... A>
class NOPAL_PROFILED submitted_job : public typed_job<way::submits, F, A...>,
                                     public submitted_result<typename call_of_job<way::submits, F, A...>::result> {
 public:
  using result = call_of_job<way::submits, F, A...>::result;

  explicit submitted_job(F f, A... a)
      : typed_job<way::submits, F, A...>{static_cast<F>(f), static_cast<A>(a)...},
        submitted_result<result>{static_cast<job_of<result>&>(*this)} {
    this->finish = [](job& r) noexcept {
      auto& self = static_cast<submitted_job&>(r);
      [[maybe_unused]] pending_where_it_ends<submitted_job::is_coroutine> const there{r};
      self.end_call();
      core::end_submitted(self, self.own, self.done);
    };
    this->values = &own.values;
  }
  ~submitted_job() override {
    if (this->error != nullptr) [[unlikely]]
      this->end_if_lost(this->error, this->function());
  }

  kept_job own;
};

NOPAL_API void submit(pool_state& pool, job& r) noexcept;  // submission.hpp, which a job's type does not need
/// Gives a submitted job to the pool, in a stop region that is held for it. `s`: the job. Not inlined: each call of pool::submit is less code.
template <class R>
[[gnu::noinline]] void submit_kept(pool_state& pool, region_id region, job& r, kept_job& k,
                                   std::shared_ptr<shared_result<R>> const& s) noexcept {
  r.pool = &pool;
  r.runs_in.region = region;
  k.self = s;
  core::submit(pool, r);
}

/// The job of pool::detach. It deletes itself at its end.
template <class F, class... A>
class NOPAL_PROFILED detached_job final : public typed_job<way::submits, F, A...> {
 public:
  explicit detached_job(F f, A... a) : typed_job<way::submits, F, A...>{static_cast<F>(f), static_cast<A>(a)...} {
    this->values = &values_;
    this->finish = [](job& r) noexcept {
      auto& self = static_cast<detached_job&>(r);
      if (self.error != nullptr) detached_threw(self.error, self.function());
      [[maybe_unused]] pending_where_it_ends<detached_job::is_coroutine> const there{r};
      rest_of_job const rest{self, self.values_};
      delete &self;
    };
  }

 private:
  fiber_values values_;
};

}  // namespace nopal::core
