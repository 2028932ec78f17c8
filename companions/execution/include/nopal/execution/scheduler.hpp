#pragma once

// The scheduler of a pool, its sender, and its domain, where algorithms find what nopal does otherwise: bulk and sync_wait. First how a
// worker waits for a sender. Next: work.hpp; bulk.hpp; tasks.hpp.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <exception>
#include <optional>
#include <stdexec/execution.hpp>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nopal/block_on.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/typed_job.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/execution/bulk.hpp"
#include "nopal/execution/work.hpp"
#include "nopal/semaphore.hpp"

namespace nopal::inline NOPAL_ABI::core::senders {

// How a worker waits for a sender: the operation is in the frame that waits, the native stack is left, and the worker runs others. A request
// to stop in the waiter's region goes on to the operation, whose end is then waited for. A thread that works for no pool waits as a caller of
// pool.run does, where it can make no difference to the sender. Used below, for sync_wait, and by tasks.hpp. Next: semaphore.hpp;
// core/scheduler/submission.hpp.

class scheduler;

/// What a sender learns of a worker that waits for it: its stop token, and the scheduler of its pool.
struct waiter_env {
  pool_state* pool;
  stdexec::inplace_stop_source const* stop;  // null: nobody will ask

  stdexec::inplace_stop_token query(stdexec::get_stop_token_t) const noexcept {
    return stop != nullptr ? stop->get_token() : stdexec::inplace_stop_token{};
  }
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

/// As waiter_env, of a waiter that runs the work itself which the start gives.
struct doer_env : waiter_env {
  work** first;

  using waiter_env::query;
  work** query(first_work_t) const noexcept { return first; }
};

/// In the waiting frame.
template <class Tuple>
struct waiting {
  outcome<Tuple> ended;
  stdexec::inplace_stop_source stop;
  semaphore done{0};
};

template <class Tuple, class Env>
struct waiting_receiver {
  using receiver_concept = stdexec::receiver_tag;

  waiting<Tuple>* to;
  Env env;

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
  Env get_env() const noexcept { return env; }
};

/// True if the caller, which is in a stop region, was asked to stop before the permit came, which has not been taken then.
inline bool is_asked_before(semaphore& done) noexcept {
  if (done.try_acquire()) return false;
  try {
    if (done.try_acquire_until(time_point::max())) return false;
  } catch (stopped const&) {
    return true;
  } catch (...) {  // there is no memory for a wait that can end early: this one does not
  }
  done.acquire();
  return false;
}

/// Runs `s` to its end, on a worker. Throws what connect throws; then it has not begun. `RunsFirst`: it gives one work, as only_gives_work
/// says, which runs here.
template <bool RunsFirst, class Sender>
auto wait_here(Sender&& s) {
  using env = std::conditional_t<RunsFirst, doer_env, waiter_env>;
  using tuple = way_of<Sender, waiter_env>::type;
  waiting<tuple> w;
  work* first = nullptr;
  bool const may_be_asked = wait_may_end_early();
  waiter_env const mine{&current()->pool(), may_be_asked ? &w.stop : nullptr};
  auto receives = [&] {
    if constexpr (RunsFirst) {
      return waiting_receiver<tuple, env>{&w, {mine, &first}};
    } else {
      return waiting_receiver<tuple, env>{&w, mine};
    }
  };
  auto operation = stdexec::connect(static_cast<Sender&&>(s), receives());
  stdexec::start(operation);
  if constexpr (RunsFirst) {
    if (first != nullptr) first->run_here();
  }
  if (!may_be_asked) {
    w.done.acquire();
  } else if (is_asked_before(w.done)) {
    w.stop.request_stop();
    w.done.acquire();
  }
  return std::move(w.ended);
}

/// True of a sender whose start only gives one work to a pool, and in which nobody sees its receiver's environment, but for the stop token. Then
/// nothing of it needs the thread that waits for it, and the start may be anywhere. True of `schedule` and of as_sender with a pool, and of
/// what the algorithms below make of such senders.
template <class Sender>
consteval bool only_gives_work();
template <class... Senders>
struct all_only_give_work {
  static constexpr bool value = (only_gives_work<std::remove_cvref_t<Senders>>() && ...);
};
template <class Tag>
inline constexpr bool passes_on = stdexec::__one_of<Tag, stdexec::then_t, stdexec::upon_error_t, stdexec::upon_stopped_t, stdexec::bulk_t,
                                                    stdexec::bulk_chunked_t, stdexec::bulk_unchunked_t, stdexec::__write_env_t>;
template <class Sender>
consteval bool only_gives_work() {
  if constexpr (requires { typename Sender::only_gives_work; }) {
    return true;
  } else if constexpr (stdexec::__sender_for<Sender>) {
    if constexpr (passes_on<stdexec::tag_of_t<Sender>>) return stdexec::__children_of<Sender, stdexec::__qq<all_only_give_work>>::value;
  }
  return false;
}

/// Runs `s`, which completes on `pool`, to its end, by a thread that works for no pool: as pool::run, so that it takes the place of a worker
/// that sleeps, and no thread must wake up for what is short.
template <class Sender>
auto wait_outside(pool_state& pool, Sender&& s) {
  auto there = [&] { return senders::wait_here<true>(static_cast<Sender&&>(s)); };
  awaited_job<decltype(there)&> j{there};
  j.pool = &pool;
  core::run_and_wait(pool, j, j.done);
  return j.take();
}

/// What stdexec::sync_wait returns.
template <class Sender>
auto sync_wait_here(Sender&& s) {
  using result = decltype(stdexec::default_domain{}.apply_sender(stdexec::sync_wait, static_cast<Sender&&>(s)));
  auto otherwise = [&]() -> result { return stdexec::default_domain{}.apply_sender(stdexec::sync_wait, static_cast<Sender&&>(s)); };
  auto values_of = [](auto ended) -> result {
    if (ended.error != nullptr) std::rethrow_exception(std::move(ended.error));
    return std::move(ended.values);
  };
  bool const on_worker = current_or_null() != nullptr;
  if constexpr (stdexec::sender_in<Sender, waiter_env>) {
    using way = way_of<Sender, waiter_env>;
    if constexpr (way::is_one && std::is_same_v<std::optional<typename way::type>, result>) {
      if (on_worker) return values_of(senders::wait_here<false>(static_cast<Sender&&>(s)));
      if constexpr (only_gives_work<std::remove_cvref_t<Sender>>()) {
        pool_state& pool = stdexec::get_completion_scheduler<stdexec::set_value_t>(stdexec::get_env(s), waiter_env{}).pool();
        return values_of(senders::wait_outside(pool, static_cast<Sender&&>(s)));
      }
    }
  }
  return on_worker ? block_on(otherwise) : otherwise();
}

// ---- The scheduler.

/// The domain of what completes on a pool.
struct domain : stdexec::default_domain {
  template <class Sender, class Env>
    requires stdexec::__sender_for<Sender, stdexec::bulk_chunked_t> || stdexec::__sender_for<Sender, stdexec::bulk_unchunked_t>
  constexpr auto transform_sender(stdexec::set_value_t, Sender&& s, Env const& env) const noexcept {
    static_assert(
        stdexec::__completes_on<Sender, scheduler, Env>,
        "nopal: what comes before this bulk completes on no pool. Write stdexec::continues_on(nopal::get_scheduler(pool)) before it.");
    pool_state& on = stdexec::get_completion_scheduler<stdexec::set_value_t>(stdexec::get_env(s), env).pool();
    return stdexec::__apply(make_bulk{on}, static_cast<Sender&&>(s));
  }

  using stdexec::default_domain::apply_sender;
  /// stdexec::sync_wait. A worker leaves its native stack and runs others; a thread that works for no pool takes the place of a worker that
  /// sleeps, if only_gives_work, or sleeps.
  template <class Sender>
  auto apply_sender(stdexec::sync_wait_t, Sender&& s) const {
    return sync_wait_here(static_cast<Sender&&>(s));
  }
};

/// What schedule's sender, and what as_sender makes, say of themselves.
struct completes_on_pool {
  pool_state* pool;

  template <class Tag>
  auto query(stdexec::get_completion_scheduler_t<Tag>, auto const&...) const noexcept -> scheduler;
  template <class Tag>
  auto query(stdexec::get_completion_domain_t<Tag>, auto const&...) const noexcept -> domain {
    return {};
  }
};

template <class Receiver>
class schedule_operation : work {
 public:
  using operation_state_concept = stdexec::operation_state_tag;

  schedule_operation(pool_state& pool, Receiver r) noexcept : work{run}, pool_{pool}, receiver_(static_cast<Receiver&&>(r)) {}
  void start() & noexcept {
    if (!is_stopped()) this->give_for(stdexec::get_env(receiver_), pool_);
  }

 private:
  // True: it was asked to stop, and this is done.
  bool is_stopped() noexcept {
    if constexpr (!stdexec::unstoppable_token<token_of<Receiver>>) {
      if (stdexec::get_stop_token(stdexec::get_env(receiver_)).stop_requested()) {
        stdexec::set_stopped(static_cast<Receiver&&>(receiver_));
        return true;
      }
    }
    return false;
  }
  static void run(work& w) noexcept {
    auto& self = static_cast<schedule_operation&>(w);
    if (!self.is_stopped()) stdexec::set_value(static_cast<Receiver&&>(self.receiver_));
  }

  pool_state& pool_;
  Receiver receiver_;
};

class schedule_sender {
 public:
  using sender_concept = stdexec::sender_tag;
  using only_gives_work = void;  // see above

  explicit schedule_sender(pool_state& pool) noexcept : pool_{&pool} {}

  template <class Self, class Env>
  static consteval auto get_completion_signatures() noexcept {
    if constexpr (stdexec::unstoppable_token<stdexec::stop_token_of_t<Env>>) {
      return stdexec::completion_signatures<stdexec::set_value_t()>{};
    } else {
      return stdexec::completion_signatures<stdexec::set_value_t(), stdexec::set_stopped_t()>{};
    }
  }
  template <stdexec::receiver Receiver>
  schedule_operation<Receiver> connect(Receiver r) const noexcept {
    return {*pool_, static_cast<Receiver&&>(r)};
  }
  completes_on_pool get_env() const noexcept { return {pool_}; }

 private:
  pool_state* pool_;
};

class scheduler {
 public:
  using scheduler_concept = stdexec::scheduler_tag;

  explicit scheduler(pool_state& pool) noexcept : pool_{&pool} {}

  schedule_sender schedule() const noexcept { return schedule_sender{*pool_}; }
  pool_state& pool() const noexcept { return *pool_; }
  bool operator==(scheduler const&) const noexcept = default;

  /// A worker runs what has begun to its end, but for its waits, and then what waits: parallel, not concurrent.
  stdexec::forward_progress_guarantee query(stdexec::get_forward_progress_guarantee_t) const noexcept {
    return stdexec::forward_progress_guarantee::parallel;
  }
  scheduler query(stdexec::get_completion_scheduler_t<stdexec::set_value_t>, auto const&...) const noexcept { return *this; }
  domain query(stdexec::get_completion_domain_t<stdexec::set_value_t>, auto const&...) const noexcept { return {}; }

 private:
  pool_state* pool_;
};

template <class Tag>
auto completes_on_pool::query(stdexec::get_completion_scheduler_t<Tag>, auto const&...) const noexcept -> scheduler {
  return scheduler{*pool};
}

}  // namespace nopal::core::senders
