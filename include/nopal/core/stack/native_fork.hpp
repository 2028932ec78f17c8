#pragma once

// A branch: the later half of a fork in an ordinary function, offered as a closure in the forking function's frame. Made by invoke, below;
// run by the owner, which pops it, or by the worker that takes it. Next on the path: run_stolen_branch, which runs a stolen one and
// suspends the stack that waits for it.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/join_wait.hpp"
#include "nopal/core/task/pack.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A resumable: the same object is in a deque, or in an inbox if the owner had to give it away.
struct branch : inheriting {
  /// Counts the one steal that can happen to this branch, and guards the exception.
  join_word join;
  join_waiter waiting;  ///< the owner

  explicit branch(run_function f) noexcept : inheriting{f} {}
  branch(branch const&) = delete;
  branch& operator=(branch const&) = delete;

  /// What the stolen branch has thrown; alive if the join word says "recorded". By the owner, once the thief has arrived: branch_lost or
  /// give_up destroys it. It is stored in the place of `next`: only a branch that no worker has begun is in a queue.
  std::exception_ptr& error() noexcept { return *std::launder(reinterpret_cast<std::exception_ptr*>(&next)); }
  /// Keeps what the branch has thrown. By the thief, under the join word's lock, before it arrives.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved
  void keep(std::exception_ptr e) noexcept { ::new (static_cast<void*>(&next)) std::exception_ptr{std::move(e)}; }
  static_assert(sizeof(std::exception_ptr) == sizeof(resumable*) && alignof(std::exception_ptr) <= alignof(resumable*));
};

// All that a deque holds was offered in one context, that of the deque. Called by the forks of all front ends when must_poll is true, before
// they offer; and where the program says that it has changed the mode. Why no thief gets another context: ../scheduler/README.md, "Job
// context". Next: suspension.hpp.

/// The strand is about to offer something, and polls. Makes its context that of the deque; first gives away what the deque holds in
/// another. False: there was no memory for that, and nothing may be offered here.
NOPAL_API NOPAL_COLD bool may_offer_here(worker& w) noexcept;
/// A fork or a call that polled has ended. If the deque is empty, the next one polls too, though not too often: so nopal sees a mode that
/// was changed between two parallel sections without a call. By the worker that runs the strand now.
NOPAL_API NOPAL_COLD void polled_fork_ended() noexcept;
/// The code of the strand has changed its mode: the next fork polls.
NOPAL_API NOPAL_COLD void mode_changed(worker& w) noexcept;
/// Ends the program: a thief had another mode than serial execution has.
[[noreturn]] NOPAL_COLD void die_of_mode() noexcept;

// The slow paths of parallel_invoke's forks, which offer a branch. Called by what is below, by the worker that forks; run_stolen_branch by
// the thief. Next: suspension.hpp, which leaves a stack that must wait for a stolen branch.

/// True if an ordinary function may fork here. Asked only when must_poll is true. False: too little is left of the native stack, or of
/// memory for another stack or for the deque. Then the function calls both halves.
NOPAL_API NOPAL_COLD bool may_fork_natively(worker& w) noexcept;
/// Offers what was requested, and lets the forks below use the native stack as far as it is safe. After may_fork_natively, with the branch
/// in the deque. It may change the deque's limit, which the caller restores. Another worker may run the caller afterwards.
NOPAL_API NOPAL_COLD void poll_natively() noexcept;

/// Decides after the first half of a fork whose pop failed. False: the branch is still the caller's, which runs it. True: it was stolen,
/// and has ended: this has waited for that. Throws what the branch has thrown.
NOPAL_API NOPAL_COLD bool branch_lost(branch& b);
/// Ends a fork whose first half has thrown: takes the branch back and never runs it; or, if it was stolen, waits for it, and drops what it
/// has thrown. In the handler of that exception.
NOPAL_API NOPAL_COLD void give_up(branch& b) noexcept;

/// Runs the branch `b` by `body`, on the worker `w` that has taken it, at the base of a stack. Then resumes the stack that waits for it, if
/// one does; otherwise returns.
NOPAL_API NOPAL_COLD void run_stolen_branch(worker& w, branch& b, void (*body)(branch&)) noexcept;

// The fork of parallel_invoke: the later half is offered as a branch in the forking function's frame, and the first half is called. Called
// by ../../native.hpp, on a worker. Next on the path: deque/continuation.hpp; branch_lost, where the branch was stolen.

/// How a branch keeps its callable. A small temporary is copied into the branch: the original then needs no address, and on the fast path
/// no memory. Otherwise the branch keeps a reference: a large or over-aligned callable is in memory anyway, and one whose move is not a
/// copy of its bytes stays where it is.
template <class F>
struct stored_as {
  using type = std::remove_reference_t<F>&;
};
template <class F>
  requires(!std::is_reference_v<F>) && (std::is_trivially_copyable_v<F> && std::is_trivially_move_constructible_v<F>) &&
          (sizeof(F) <= 128 && alignof(F) <= alignof(std::max_align_t))
struct stored_as<F> {
  using type = F;
};
template <class F>
using stored = stored_as<F>::type;

/// Calls f as it was given: as an lvalue, or as a temporary.
template <class F>
NOPAL_INLINE void call_once(std::remove_reference_t<F>& f) {
  static_cast<void>(static_cast<F&&>(f)());
}

/// A branch with its callable.
template <class G>
struct branch_of : branch {
  stored<G> g;
  NOPAL_INLINE explicit branch_of(std::remove_reference_t<G>& callable) noexcept
      : branch{run_stolen}, g(stored_copy<stored<G>>(callable)) {}
  NOPAL_COLD static void run_stolen(resumable& r, worker& w) noexcept {
    core::run_stolen_branch(w, static_cast<branch_of&>(r), [](branch& b) { call_once<G>(static_cast<branch_of&>(b).g); });
  }
};

/// Runs f while g is offered. Then runs g, or waits for the thief that took it. Polls: work was requested, or the stack is low.
template <bool Polls, class F, class G>
NOPAL_INLINE void fork_offered(std::remove_reference_t<F>& f, std::remove_reference_t<G>& g) {
  branch_of<G> later{g};
  make_offer(*current(), continuation{later});
  if constexpr (Polls) poll_natively();
  try {
    call_once<F>(f);
  } catch (...) {
    core::give_up(later);
    throw;
  }
  if (take_back(*current())) [[likely]] {
    call_once<G>(g);
    return;
  }
  if (!core::branch_lost(later)) call_once<G>(g);
}

/// must_poll was true: a thief has requested work, or the native stack has grown below the limit. Forks if the stack and the memory allow,
/// else calls both. Restores the limit.
template <class F, class G>
NOPAL_COLD void fork_and_poll(stored<F> f, stored<G> g) {
  worker* const w = current();
  if (!may_fork_natively(*w)) {
    call_once<F>(f);
    call_once<G>(g);
    return;
  }
  struct restores {
    std::uintptr_t limit;
    ~restores() {
      current()->work.set_limit_back(limit);
      polled_fork_ended();
    }
  } const before{w->work.limit()};
  fork_offered<true, F, G>(f, g);
}

/// Runs f and g, in parallel if a thief takes g.
template <class F, class G>
NOPAL_INLINE void fork_two(std::remove_reference_t<F>& f, std::remove_reference_t<G>& g) {
  if (current()->work.must_poll()) [[unlikely]]
    return fork_and_poll<F, G>(static_cast<stored<F>&&>(f), static_cast<stored<G>&&>(g));
  fork_offered<false, F, G>(f, g);
}

/// Runs all of them: the first now, the others as one later half that forks in turn. By a worker. Throws as parallel_invoke.
template <class F, class G>
NOPAL_INLINE void invoke_all(std::remove_reference_t<F>& f, std::remove_reference_t<G>& g) {
  fork_two<F, G>(f, g);
}
template <class F, class G, class... H>
  requires(sizeof...(H) > 0)
NOPAL_INLINE void invoke_all(std::remove_reference_t<F>& f, std::remove_reference_t<G>& g, std::remove_reference_t<H>&... h) {
  auto rest = [&] { invoke_all<G, H...>(g, h...); };
  fork_two<F, decltype(rest)>(f, rest);
}

}  // namespace nopal::core
