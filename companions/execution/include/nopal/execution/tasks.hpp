#pragma once

// Tasks of nopal and senders: a coroutine function or a function of nopal as a sender, and co_await of any sender in a task. Next:
// scheduler.hpp; work.hpp.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <exception>
#include <functional>
#include <optional>
#include <stdexec/execution.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/typed_job.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/core/task/awaiters.hpp"
#include "nopal/core/task/promise.hpp"
#include "nopal/eventually.hpp"
#include "nopal/execution/scheduler.hpp"
#include "nopal/execution/work.hpp"
#include "nopal/pool.hpp"
#include "nopal/stop.hpp"

// as_sender: a coroutine function or a function of nopal as a sender. stop.hpp has call_in_region, which runs either.

namespace nopal::inline NOPAL_ABI {

namespace core::senders {

template <class Pack>
struct tuple_for;
template <class... P>
struct tuple_for<pack<P...>> {
  using type = std::tuple<P...>;
};

/// A callable and its arguments, kept as a job keeps them. F, A...: references, as they were given.
template <class F, class... A>
class kept_call {
  using callable = std::decay_t<F>;
  using arguments = tuple_for<typename checked<way::submits, F, A...>::arguments::type>::type;

 public:
  using result = std::remove_cv_t<typename result_of_run<typename checked<way::submits, F, A...>::result>::type>;
  static constexpr bool copies = std::copy_constructible<callable> && std::copy_constructible<arguments>;

  explicit kept_call(F f, A... a) : f_(static_cast<F>(f)), a_(static_cast<A>(a)...) {}

  /// Once. By-value arguments are handed over, references are passed on.
  result call() { return pass(std::type_identity<arguments>{}); }

 private:
  template <class... P>
  result pass(std::type_identity<std::tuple<P...>>) {
    using called_as = callee<way::submits, F, P...>::type;
    return std::apply([this](auto&... a) -> result { return core::call_in_region(static_cast<called_as>(f_), static_cast<P&&>(a)...); },
                      a_);
  }

  callable f_;
  arguments a_;
};

template <class Call, class Receiver>
class call_operation : work {
  using result = Call::result;

 public:
  using operation_state_concept = stdexec::operation_state_tag;

  call_operation(pool_state* pool, Call&& c, Receiver r)
      : work{run}, pool_{pool}, call_(static_cast<Call&&>(c)), receiver_(static_cast<Receiver&&>(r)) {}
  void start() & noexcept {
    if (is_asked()) return stdexec::set_stopped(static_cast<Receiver&&>(receiver_));
    pool_state* to = pool_;
    if (to == nullptr) {
      if (worker* const w = current_or_null(); w != nullptr) to = &w->pool();
    }
    std::exception_ptr failed;
    if (to == nullptr) {
      try {
        to = &default_pool_state();
      } catch (...) {
        failed = caught();
      }
    }
    if (failed != nullptr) return stdexec::set_error(static_cast<Receiver&&>(receiver_), std::move(failed));
    this->give_for(stdexec::get_env(receiver_), *to);
  }

 private:
  auto token() const noexcept { return stdexec::get_stop_token(stdexec::get_env(receiver_)); }
  bool is_asked() const noexcept { return token().stop_requested(); }

  static void run(work& w) noexcept { static_cast<call_operation&>(w).run_here(); }
  void run_here() noexcept {
    using held = std::conditional_t<std::is_void_v<result>, char,
                                    std::conditional_t<std::is_reference_v<result>, std::remove_reference_t<result>*, result>>;
    eventually<held> value;
    std::exception_ptr thrown;
    if (!is_asked()) {
      try {
        asked_by<token_of<Receiver>> const in{token()};
        if constexpr (std::is_void_v<result>) {
          call_.call();
          value.emplace();
        } else if constexpr (std::is_reference_v<result>) {
          auto&& there = call_.call();
          value.emplace(std::addressof(there));
        } else {
          eventually_access::make(value, [this]() -> result { return call_.call(); });
        }
      } catch (stopped const&) {
      } catch (...) {
        thrown = caught();
      }
    }
    if (thrown != nullptr) {
      stdexec::set_error(static_cast<Receiver&&>(receiver_), std::move(thrown));
    } else if (!value.has_value()) {
      stdexec::set_stopped(static_cast<Receiver&&>(receiver_));
    } else if constexpr (std::is_void_v<result>) {
      stdexec::set_value(static_cast<Receiver&&>(receiver_));
    } else if constexpr (std::is_reference_v<result>) {
      stdexec::set_value(static_cast<Receiver&&>(receiver_), static_cast<result>(**value));
    } else {
      stdexec::set_value(static_cast<Receiver&&>(receiver_), *std::move(value));
    }
  }

  pool_state* pool_;  // null: that of the worker which starts it, else the default pool
  Call call_;
  Receiver receiver_;
};

template <class Call>
class call_sender {
  using result = Call::result;
  template <class R>
  struct value_of {
    using type = stdexec::set_value_t(R);
  };
  template <class R>
    requires std::is_void_v<R>
  struct value_of<R> {
    using type = stdexec::set_value_t();
  };

 public:
  using sender_concept = stdexec::sender_tag;

  call_sender(pool_state* pool, Call&& c) : pool_{pool}, call_(static_cast<Call&&>(c)) {}

  template <class Self, class... Env>
  static consteval auto get_completion_signatures() noexcept {
    return stdexec::completion_signatures<typename value_of<result>::type, stdexec::set_error_t(std::exception_ptr),
                                          stdexec::set_stopped_t()>{};
  }
  template <stdexec::receiver Receiver>
  auto connect(Receiver r) && {
    return call_operation<Call, Receiver>{pool_, static_cast<Call&&>(call_), static_cast<Receiver&&>(r)};
  }
  template <stdexec::receiver Receiver>
    requires Call::copies
  auto connect(Receiver r) const& {
    return call_operation<Call, Receiver>{pool_, Call{call_}, static_cast<Receiver&&>(r)};
  }

 private:
  pool_state* pool_;
  Call call_;
};

/// As call_sender, on a pool that is known, and so with its domain.
template <class Call>
class call_sender_on : public call_sender<Call> {
 public:
  using only_gives_work = void;  // see scheduler.hpp

  call_sender_on(pool_state& pool, Call&& c) : call_sender<Call>{&pool, static_cast<Call&&>(c)}, env_{&pool} {}
  completes_on_pool get_env() const noexcept { return env_; }

 private:
  completes_on_pool env_;
};

}  // namespace core::senders

/// A sender that calls f(args...), a coroutine function of nopal or an ordinary one, on `p`, and completes with its result, with
/// set_error(std::exception_ptr) for what it throws, or with set_stopped for nopal::stopped. The callable and its arguments are kept as by
/// pool::submit. It allocates nothing of its own. A request of the receiver's stop token asks all that f begins, as by nopal::with_stop; one
/// that was made before a worker begins f ends the operation with set_stopped, and f is not called.
///
///     auto s = nopal::as_sender(pool, fib, 30) | stdexec::then([](long x) { return 2 * x; });
template <class F, class... A>
auto as_sender(pool& p, F&& f, A&&... a) {
  using c = core::checked<core::way::submits, F&&, A&&...>;
  if constexpr (!c::ok) {
    return core::explained<core::way::submits, c::wrong>();
  } else {
    using call = core::senders::kept_call<F&&, A&&...>;
    return core::senders::call_sender_on<call>{core::pool_access::state(p), call{static_cast<F&&>(f), static_cast<A&&>(a)...}};
  }
}
/// As above, on the pool of the worker that starts the operation; on default_pool() if it is started on a thread that works for none.
template <class F, class... A>
  requires(!std::same_as<std::remove_cvref_t<F>, pool>)
auto as_sender(F&& f, A&&... a) {
  using c = core::checked<core::way::submits, F&&, A&&...>;
  if constexpr (!c::ok) {
    return core::explained<core::way::submits, c::wrong>();
  } else {
    using call = core::senders::kept_call<F&&, A&&...>;
    return core::senders::call_sender<call>{nullptr, call{static_cast<F&&>(f), static_cast<A&&>(a)...}};
  }
}

}  // namespace nopal

// `co_await sender` in a task of nopal. The task waits on its native stack, also between fork and join, as for a future. Next:
// scheduler.hpp, wait_here; core/task/awaiters.hpp, stack_awaiter.

namespace nopal::inline NOPAL_ABI::core::senders {

template <class Query>
  requires(std::is_same_v<Query, stdexec::get_scheduler_t> || std::is_same_v<Query, stdexec::get_start_scheduler_t> ||
           std::is_same_v<Query, stdexec::get_delegation_scheduler_t>)
auto waiter_env::query(Query) const noexcept -> scheduler {
  return scheduler{*pool};
}

/// Returns nothing, the one value, or a tuple of several. Throws the error, or nopal::stopped.
template <class Sender>
class sender_awaiter : public stack_awaiter {
  using way = way_of<Sender, waiter_env>;
  static_assert(way::is_one,
                "nopal: a task awaits a sender that completes with values in one way. Write co_await stdexec::into_variant(sender).");
  using tuple = way::type;

 public:
  sender_awaiter(Sender&& s, frame& t) noexcept : stack_awaiter{t}, sender_{static_cast<Sender&&>(s)} {}
  bool await_ready() {
    return wait([this] {
      auto ended = senders::wait_here<false>(static_cast<Sender&&>(sender_));
      if (ended.error != nullptr) std::rethrow_exception(std::move(ended.error));
      if (!ended.values.has_value()) throw_stopped();
      values_ = std::move(ended.values);
    });
  }
  auto await_resume() {
    rethrow_if_failed();
    if constexpr (std::tuple_size_v<tuple> == 1) {
      return std::get<0>(*std::move(values_));
    } else if constexpr (std::tuple_size_v<tuple> > 1) {
      return *std::move(values_);
    }
  }

 private:
  Sender&& sender_;
  std::optional<tuple> values_;
};

}  // namespace nopal::core::senders

namespace nopal::inline NOPAL_ABI::core {

template <class A>
  requires(stdexec::sender<A> && !std::derived_from<A, awaitable_tag>)
struct foreign_awaitable<A> {
  template <class Sender>
  static auto in(Sender&& s, frame& task) noexcept {
    static_assert(stdexec::sender_in<Sender, senders::waiter_env>,
                  "nopal: this sender cannot be awaited by a task, whose environment has a stop token and a scheduler.");
    return senders::sender_awaiter<Sender>{static_cast<Sender&&>(s), task};
  }
};

}  // namespace nopal::core
