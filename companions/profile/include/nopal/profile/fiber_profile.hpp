#pragma once

// Measured fibers: nopal/fiber.hpp and nopal/pool.hpp spawn these instead of the closures themselves. Next: forks.hpp, the hooks;
// core/scheduler/fiber_record.hpp, which holds the closure.

#include <source_location>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/fiber_record.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/profile/forks.hpp"
#include "nopal/profile/procedure.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What a measured_fiber is made from.
template <class Given>
struct fiber_given : measured_given<Given> {
  void const* counter;
};

/// A fiber's closure. After its end, the paths of those that wait for its counter follow its path.
template <class F>
struct measured_fiber {
  procedure_start start;
  void const* counter;
  F f;

  template <class Given>
  explicit measured_fiber(fiber_given<Given>&& g) : start{std::move(g.start)}, counter{g.counter}, f(static_cast<Given>(*g.closure)) {}
  void operator()() && {
    struct signals_at_end {
      void const* counter;
      ~signals_at_end() {
        if (counter != nullptr) signal_from_here(counter);
      }
    };
    running_procedure const p{start};
    signals_at_end const s{counter};
    static_cast<void>(static_cast<called_once<F>>(f)());
  }
};

/// True if a fiber can be made of `F`. If not, the plain spawn gives the error.
template <class F>
inline constexpr bool can_be_measured =
    std::is_invocable_v<called_once<std::decay_t<F>>> && !returns_task<called_once<std::decay_t<F>>> &&
    std::is_constructible_v<std::decay_t<F>, F&&> && alignof(std::decay_t<F>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

/// As spawn, or spawn_counted if `c` is not null, of a measured fiber.
template <class Counter, class F>
void spawn_measured(pool_state* to, pool_state& (*otherwise)(), Counter* c, std::source_location const& where, F&& f) {
  if constexpr (!can_be_measured<F>) {
    core::spawn(to, otherwise, c, static_cast<F&&>(f));
  } else {
    if (c != nullptr) c->add();
    try {
      using given = fiber_given<F&&>;
      core::spawn_checked<measured_fiber<std::decay_t<F>>>(to, otherwise, c, given{{start_of_fiber(where), std::addressof(f)}, c});
    } catch (...) {
      if (c != nullptr) c->done();
      throw;
    }
  }
}

}  // namespace nopal::core
