#pragma once

// How a worker waits for a sender: the operation is in the frame that waits, the native stack is left, and the worker runs others. A request
// to stop in the waiter's region goes on to the operation, whose end is then waited for. Used by scheduler.hpp, for sync_wait, and by
// await.hpp. Next: semaphore.hpp.

#include "nopal/core/compiler/config.hpp"

#include <exception>
#include <optional>
#include <stdexec/execution.hpp>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nopal/block_on.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stopped.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/semaphore.hpp"

namespace nopal::inline NOPAL_ABI::core::senders {

class scheduler;

/// What a sender learns of a worker that waits for it: its stop token, and the scheduler of its pool.
struct waiter_env {
  pool_state* pool;
  stdexec::inplace_stop_source const* stop;

  stdexec::inplace_stop_token query(stdexec::get_stop_token_t) const noexcept { return stop->get_token(); }
  template <class Query>
    requires(std::is_same_v<Query, stdexec::get_scheduler_t> || std::is_same_v<Query, stdexec::get_start_scheduler_t> ||
             std::is_same_v<Query, stdexec::get_delegation_scheduler_t>)
  auto query(Query) const noexcept -> scheduler;
};

template <class... T>
using decayed_values = std::tuple<std::decay_t<T>...>;
/// Of the ways to complete with values: one, or none at all, as an empty tuple.
template <class... Tuple>
struct one_way {
  static constexpr bool is_one = false;
  using type = std::tuple<>;
};
template <class Tuple>
struct one_way<Tuple> {
  static constexpr bool is_one = true;
  using type = Tuple;
};
template <>
struct one_way<> {
  static constexpr bool is_one = true;
  using type = std::tuple<>;
};
template <class Sender, class Env>
using way_of = stdexec::value_types_of_t<Sender, Env, decayed_values, one_way>;

/// How an operation has ended: with values, with an error, or stopped, if it has neither.
template <class Tuple>
struct outcome {
  std::optional<Tuple> values;
  std::exception_ptr error;
};

/// In the waiting frame.
template <class Tuple>
struct waiting {
  outcome<Tuple> ended;
  stdexec::inplace_stop_source stop;
  semaphore done{0};
};

template <class Tuple>
struct waiting_receiver {
  using receiver_concept = stdexec::receiver_tag;

  waiting<Tuple>* to;
  pool_state* pool;

  template <class... Values>
  void set_value(Values&&... values) noexcept {
    try {
      to->ended.values.emplace(static_cast<Values&&>(values)...);
    } catch (...) {
      to->ended.error = caught();
    }
    to->done.release();
  }
  template <class Error>
  void set_error(Error&& e) noexcept {
    using error = std::decay_t<Error>;
    if constexpr (std::is_same_v<error, std::exception_ptr>) {
      to->ended.error = static_cast<Error&&>(e);
    } else if constexpr (std::is_same_v<error, std::error_code>) {
      to->ended.error = std::make_exception_ptr(std::system_error{e});
    } else {
      to->ended.error = std::make_exception_ptr(static_cast<Error&&>(e));
    }
    to->done.release();
  }
  void set_stopped() noexcept { to->done.release(); }
  waiter_env get_env() const noexcept { return {pool, &to->stop}; }
};

/// True if the caller was asked to stop before the permit came, which has not been taken then.
inline bool is_asked_before(semaphore& done) noexcept {
  if (done.try_acquire()) return false;
  if (wait_may_end_early()) {
    try {
      if (done.try_acquire_until(time_point::max())) return false;
    } catch (stopped const&) {
      return true;
    } catch (...) {  // there is no memory for a wait that can end early: this one does not
    }
  }
  done.acquire();
  return false;
}

/// Runs `s` to its end, on a worker. Throws what connect throws; then it has not begun.
template <class Sender>
auto wait_here(Sender&& s) {
  using tuple = way_of<Sender, waiter_env>::type;
  waiting<tuple> w;
  auto operation = stdexec::connect(static_cast<Sender&&>(s), waiting_receiver<tuple>{&w, &current()->pool()});
  stdexec::start(operation);
  if (is_asked_before(w.done)) {
    w.stop.request_stop();
    w.done.acquire();
  }
  return std::move(w.ended);
}

/// What stdexec::sync_wait returns.
template <class Sender>
auto sync_wait_here(Sender&& s) {
  using result = decltype(stdexec::default_domain{}.apply_sender(stdexec::sync_wait, static_cast<Sender&&>(s)));
  auto otherwise = [&]() -> result { return stdexec::default_domain{}.apply_sender(stdexec::sync_wait, static_cast<Sender&&>(s)); };
  if (current_or_null() == nullptr) return otherwise();
  if constexpr (stdexec::sender_in<Sender, waiter_env>) {
    using way = way_of<Sender, waiter_env>;
    if constexpr (way::is_one && std::is_same_v<std::optional<typename way::type>, result>) {
      auto ended = senders::wait_here(static_cast<Sender&&>(s));
      if (ended.error != nullptr) std::rethrow_exception(std::move(ended.error));
      return std::move(ended.values);
    } else {
      return block_on(otherwise);
    }
  } else {
    return block_on(otherwise);
  }
}

}  // namespace nopal::core::senders
