#pragma once

// The scheduler of a pool, its sender, and its domain, where algorithms find what nopal does otherwise: bulk and sync_wait. Next:
// work.hpp; bulk.hpp; await.hpp, how a worker waits for a sender.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <stdexec/execution.hpp>
#include <type_traits>
#include <utility>

#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/execution/bulk.hpp"
#include "nopal/execution/stop_requests.hpp"
#include "nopal/execution/wait_here.hpp"
#include "nopal/execution/work.hpp"

namespace nopal::inline NOPAL_ABI::core::senders {

class scheduler;

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
  using only_gives_work = void;  // see wait_here.hpp

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
