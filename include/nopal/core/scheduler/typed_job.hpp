#pragma once

// A job with its callable, arguments and result: what pool::run, submit and detach make of it. Next: job.hpp, the part of it that the
// scheduler knows.

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/observe/profile_hooks.hpp"
#include "nopal/core/scheduler/job.hpp"
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

/// A callable, its arguments and its result. F, A...: references, as they were given. How the arguments are kept: task/arguments.hpp.
template <way How, class F, class... A>
class NOPAL_PROFILED typed_job : public job {
  using arguments = checked<How, F, A...>::arguments::type;
  using callable = std::conditional_t<How == way::waits, F, std::decay_t<F>>;
  template <class Pack>
  struct call_of;
  template <class... P>
  struct call_of<pack<P...>> {
    using callee_type = callee<How, F, P...>::type;
    using returned = std::invoke_result_t<callee_type, P...>;
    static pack<P...> keep(A... a) { return core::make_pack<P...>(static_cast<A>(a)...); }
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
                "nopal: what this function returns cannot be moved to the caller that waits for it. "
                "Let it fill an object of the caller's.");

  explicit typed_job(F f, A... a) : f_(static_cast<F>(f)), args_(call::keep(static_cast<A>(a)...)) {
    start = [](job& r) { static_cast<typed_job&>(r).begin(); };
  }

  /// The result, or the exception rethrown. Once, after the end.
  result take() {
    profile_.taken();
    if (error != nullptr) std::rethrow_exception(std::exchange(error, nullptr));
    if constexpr (std::is_reference_v<result>) {
      return static_cast<result>(**result_);
    } else if constexpr (!std::is_void_v<result>) {
      return std::move(*result_);
    }
  }

  /// Address of the called function, for messages; null if the callable is no pointer to a function.
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
      start_threw(*current());
    }
  }
  void begin_call() {
    if constexpr (is_coroutine) {
      worker* const w = current();
      constexpr std::uintptr_t bits = std::is_void_v<result> || std::is_reference_v<result> ? 0 : constructs;
      w->parent_word = reinterpret_cast<std::uintptr_t>(static_cast<job*>(this)) | of_job | bits;
      w->slot = std::addressof(result_);
      profile_.begin_task();
      static_cast<void>(call::invoke(f_, args_));
    } else {
      current()->begin_without_tasks();
      [[maybe_unused]] auto const measured = profile_.begin_function();
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
  [[no_unique_address]] job_profile profile_{How == way::waits};
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

/// What a future shares with its job. Any thread may wait for `done`.
template <class R>
struct shared_result {
  virtual ~shared_result() = default;
  /// The result, or the exception thrown. Once, after the end.
  virtual R take() = 0;
  /// The exception, or null. After the end.
  virtual std::exception_ptr thrown() const noexcept = 0;
  completion done;
  /// The future was destroyed by an exception that unwinds, which counts more than what the job throws. Written by the future, before it
  /// gives up its share, and read by the thread that gives up the last one: the count of shares orders the two.
  bool dropped_by_exception = false;
};

/// The job of pool::submit. It keeps itself alive until it has ended; then its future does.
template <class F, class... A>
class NOPAL_PROFILED submitted_job final : public typed_job<way::submits, F, A...>,
                                           public shared_result<typename typed_job<way::submits, F, A...>::result> {
 public:
  explicit submitted_job(F f, A... a) : typed_job<way::submits, F, A...>{static_cast<F>(f), static_cast<A>(a)...} {
    this->finish = [](job& r) noexcept {
      auto& self = static_cast<submitted_job&>(r);
      pool_state& owner = *self.pool;
      auto const alive = std::move(self.self_);  // until here the job keeps itself alive, also if the future is dropped
      drop_region(self.runs_in.region);          // which submit holds
      self.done.set();
      owner.pending.finished();
    };
  }
  ~submitted_job() override {
    if (this->error != nullptr && !this->dropped_by_exception) [[unlikely]]
      dropped_threw(this->error, this->function());
  }
  typename typed_job<way::submits, F, A...>::result take() override { return typed_job<way::submits, F, A...>::take(); }
  std::exception_ptr thrown() const noexcept override { return this->error; }
  void keep(std::shared_ptr<submitted_job> self) noexcept { self_ = std::move(self); }

 private:
  std::shared_ptr<submitted_job> self_;
};

/// The job of pool::detach. It deletes itself at its end.
template <class F, class... A>
class NOPAL_PROFILED detached_job final : public typed_job<way::submits, F, A...> {
 public:
  explicit detached_job(F f, A... a) : typed_job<way::submits, F, A...>{static_cast<F>(f), static_cast<A>(a)...} {
    this->finish = [](job& r) noexcept {
      auto& self = static_cast<detached_job&>(r);
      if (self.error != nullptr) detached_threw(self.error, self.function());
      pool_state& owner = *self.pool;
      drop_region(self.runs_in.region);  // which submit holds
      delete &self;
      owner.pending.finished();
    };
  }
};

}  // namespace nopal::core
