#pragma once

// The loop of a bulk, on a worker of its pool. Called by bulk.hpp and by parallel_scheduler.cpp. Next: algorithm/parallel_for.hpp.

#include "nopal/core/compiler/config.hpp"

#include <cstdint>
#include <exception>

#include "nopal/algorithm/parallel_for.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/typed_job.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/execution/stop_requests.hpp"
#include "nopal/native.hpp"

namespace nopal::inline NOPAL_ABI::core::senders {

/// How a loop has ended.
struct bulk_outcome {
  std::exception_ptr thrown;  ///< by a body: what serial execution would have thrown first; or std::bad_alloc
  bool stopped = false;
};

/// Up to so many iterations for each worker are forked by halves at once: they may be long, and no block tells so before it has run.
inline constexpr std::uint64_t few = 4;

template <class Shape, class Block>
void fork_each(Shape first, Shape last, Block& block) {
  if (last - first <= Shape{1}) {
    throw_if_stopped();
    return block(first, last);
  }
  Shape const middle = static_cast<Shape>(first + (last - first) / Shape{2});
  nopal::parallel_invoke([&] { fork_each(first, middle, block); }, [&] { fork_each(middle, last, block); });
}

/// Calls block(first, last) for blocks that together are [0, shape), in a region that token() asks; once for all if not Parallel. By a
/// worker of the pool, as a rule.
template <bool Parallel, class Shape, class Token, class Block>
bulk_outcome run_bulk(pool_state& pool, Shape shape, Token token, Block block) noexcept {
  bulk_outcome o;
  if (worker const* const w = current_or_null(); w == nullptr || &w->pool() != &pool) [[unlikely]] {
    auto there = [&] { o = run_bulk<Parallel>(pool, shape, token, block); };
    awaited_job<decltype(there)&> j{there};
    j.pool = &pool;
    try {
      core::run_and_wait(pool, j, j.done);
    } catch (...) {  // std::bad_alloc; nothing has run
      o.thrown = caught();
    }
    return o;
  }
  try {
    asked_by<decltype(token())> const in{token()};
    throw_if_stopped();
    if (!(Shape{} < shape)) return o;
    if constexpr (!Parallel) {
      block(Shape{}, shape);
    } else if (static_cast<std::uint64_t>(shape) <= few * pool.workers.size()) {
      senders::fork_each(Shape{}, shape, block);
    } else {
      nopal::parallel_for_blocks(Shape{}, shape, block);
    }
  } catch (stopped const&) {
    o.stopped = true;
  } catch (...) {
    o.thrown = caught();
  }
  return o;
}

}  // namespace nopal::core::senders
