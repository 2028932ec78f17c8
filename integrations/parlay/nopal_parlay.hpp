#pragma once

// ParlayLib's scheduler is nopal's default pool. README.md beside this says how to use it. Include it before any header of ParlayLib, in each
// source: `-include nopal_parlay.hpp` does that for sources that are left as they are. Needs: ParlayLib 2.3.

#ifdef PARLAY_PARALLEL_H_
#error \
    "nopal: <nopal_parlay.hpp> comes after a header of ParlayLib, which has chosen a scheduler by then. Include it first: -include nopal_parlay.hpp"
#endif
#if defined(PARLAY_CILKPLUS) || defined(PARLAY_OPENCILK) || defined(PARLAY_OPENMP) || defined(PARLAY_TBB) || defined(PARLAY_SEQUENTIAL)
#error \
    "nopal: another scheduler of ParlayLib is chosen. Leave out PARLAY_CILKPLUS, PARLAY_OPENCILK, PARLAY_OPENMP, PARLAY_TBB and PARLAY_SEQUENTIAL."
#endif

// ParlayLib asks for the plug-in of oneTBB, finds its include guard, and includes nothing: the four functions are here.
#define PARLAY_TBB
#define PARLAY_INTERNAL_SCHEDULER_PLUGINS_TBB_H_

#include <nopal/algorithm/parallel_for.hpp>
#include <nopal/native.hpp>
#include <nopal/pool.hpp>
#include <nopal/stay.hpp>

#include <parlay/parallel.h>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace parlay {

namespace internal {
/// The pool of the caller, or nopal's default pool.
inline nopal::pool& nopal_pool() {
  nopal::pool* const here = nopal::pool::current();
  return here != nullptr ? *here : nopal::default_pool();
}
}  // namespace internal

/// The workers of the pool that the caller works for, else of nopal's default pool: NOPAL_WORKERS sets their number.
inline std::size_t num_workers() { return internal::nopal_pool().workers(); }

/// Which worker the caller is, below num_workers(): callers that run at once have different ones. 0 on threads that work for no pool. After a
/// loop or par_do it may be another one, since the caller may go on on another thread; not after a conservative one.
inline std::size_t worker_id() { return nopal::this_worker::index_or(0); }

/// Calls f(i) for each i of [start, end), where `granularity` is the least number that one worker takes, and 0 leaves it to nopal. In a
/// conservative loop the caller stays on its thread, which runs nothing else of the pool meanwhile. Throws what serial execution would have
/// thrown first.
template <typename F>
inline void parallel_for(std::size_t start, std::size_t end, F&& f, long granularity, bool conservative) {
  static_assert(std::is_invocable_v<F&, std::size_t>);
  std::size_t const grain = granularity > 0 ? static_cast<std::size_t>(granularity) : 0;
  auto const loop = [&] {
    if (start < end && end - start <= grain) {  // one worker takes them all; ParlayLib copies each word of a text so
      for (std::size_t i = start; i < end; ++i) f(i);
    } else {
      nopal::parallel_for(start, end, f, nopal::grain{grain});
    }
  };
  if (conservative) {
    nopal::stay const here;
    loop();
  } else {
    loop();
  }
}

/// Calls both, which may run at once. Conservative as in parallel_for.
template <typename Lf, typename Rf>
inline void par_do(Lf&& left, Rf&& right, bool conservative) {
  static_assert(std::is_invocable_v<Lf&&>);
  static_assert(std::is_invocable_v<Rf&&>);
  if (conservative) {
    nopal::stay const here;
    nopal::parallel_invoke(std::forward<Lf>(left), std::forward<Rf>(right));
  } else {
    nopal::parallel_invoke(std::forward<Lf>(left), std::forward<Rf>(right));
  }
}

template <typename... F>
void execute_with_scheduler(F...) {
  static_assert(sizeof...(F) == ~std::size_t{0},
                "nopal: parlay::execute_with_scheduler makes a scheduler of ParlayLib's own. Write nopal::pool pool{{.workers = p}}; "
                "pool.run(f); instead: ParlayLib's loops in f run on that pool.");
}

}  // namespace parlay
