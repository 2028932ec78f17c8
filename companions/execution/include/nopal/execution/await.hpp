#pragma once

// `co_await sender` in a task of nopal. The task waits on its native stack, also between fork and join, as for a future. Next: wait_here.hpp;
// core/task/awaiters.hpp, stack_awaiter.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <exception>
#include <optional>
#include <stdexec/execution.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nopal/core/stop/here.hpp"
#include "nopal/core/task/awaiters.hpp"
#include "nopal/core/task/promise.hpp"
#include "nopal/execution/scheduler.hpp"
#include "nopal/execution/wait_here.hpp"

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
