#pragma once

// The floating-point mode: rounding, flushing to zero, traps (on x86-64 the control bits of mxcsr and of the x87 control word, on 64-bit
// Arm those of fpcr). Each job, task, fiber and function of a scope has its own, on any worker. Next: core/stack/native_fork.hpp.

#include "nopal/core/compiler/config.hpp"

#include <type_traits>

#include "nopal/core/architecture/control_words.hpp"

namespace nopal::inline NOPAL_ABI {

/// Call this after code has changed the mode by std::fesetround, feenableexcept, _MM_SET_FLUSH_ZERO_MODE or the like, and before it forks.
/// It is not needed for a change before the first fork of a job or fiber, nor if the mode is restored before the next fork. From then on
/// forks run in the new mode, and earlier forks in the old one, on any thief. Without this call, a fork that was stolen in the wrong mode
/// ends the program with a message at its join. Any thread; off a pool it does nothing. Throws nothing.
NOPAL_API void floating_point_mode_changed() noexcept;

/// While it lives, the code around it runs in another floating-point mode, and so does what that code forks.
///
///     nopal::floating_point_mode const up{FE_UPWARD};
///     nopal::parallel_invoke([&] { a = sum(low, middle); }, [&] { b = sum(middle, high); });
///
/// Forks below it cost more if forks above it, in another mode, have not been stolen yet: then the first of them offers those to all
/// workers as if they had been stolen. A task may suspend while one lives, and end it on another worker. They end in reverse order, and
/// every function ends in the mode in which it began.
class NOPAL_API floating_point_mode {
 public:
  /// Rounds as std::fesetround(rounding) does: FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO. Throws std::invalid_argument for
  /// another value.
  explicit floating_point_mode(int rounding);
  /// Changes the mode as `change()` does: with any of the functions above. Throws what that throws; `change` must then have restored the
  /// mode itself.
  template <class F>
    requires std::is_invocable_v<F>
  explicit floating_point_mode(F&& change) {
    static_cast<void>(static_cast<F&&>(change)());
    floating_point_mode_changed();
  }
  floating_point_mode(floating_point_mode const&) = delete;
  floating_point_mode& operator=(floating_point_mode const&) = delete;
  /// Restores the mode that the constructor found.
  ~floating_point_mode();

 private:
  core::control_words const before_ = core::control_words::now();
};

}  // namespace nopal
