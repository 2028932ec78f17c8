#pragma once

// The fork of parallel_invoke: the later half is offered as a branch in the forking function's frame, and the first half is called. Called
// by ../../native.hpp, on a worker. Next on the path: branch.hpp; deque/fork_protocol.hpp; native_fork.hpp, where the branch was stolen.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/fork_protocol.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/branch.hpp"
#include "nopal/core/stack/native_fork.hpp"
#include "nopal/core/task/pack.hpp"

namespace nopal::inline NOPAL_ABI::core {

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
