#pragma once

// block_on: a call that blocks its thread, such as a read from a disk or a library that sleeps. Next: core/scheduler/blocking_threads.hpp.

#include "nopal/core/compiler/config.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/blocking_threads.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/eventually.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

/// A call of an `F`, and its result.
template <class F>
struct typed_blocking_call : blocking_call {
  using result = std::invoke_result_t<F>;
  static constexpr bool is_reference = std::is_reference_v<result>;
  using kept = std::conditional_t<is_reference, std::remove_reference_t<result>*,
                                  std::conditional_t<std::is_void_v<result>, char, std::remove_cv_t<result>>>;

  explicit typed_blocking_call(F&& g) noexcept : f{static_cast<F&&>(g)} {
    run = [](blocking_call& me) noexcept { static_cast<typed_blocking_call&>(me).call(); };
  }

  void call() noexcept {
    try {
      if constexpr (std::is_void_v<result>) {
        std::invoke(static_cast<F&&>(f));
      } else if constexpr (is_reference) {
        result r = std::invoke(static_cast<F&&>(f));
        value.emplace(std::addressof(r));
      } else {
        eventually_access::make(value, [this]() -> result { return std::invoke(static_cast<F&&>(f)); });
      }
    } catch (...) {
      thrown = caught();
    }
  }
  result take() {
    if (thrown != nullptr) std::rethrow_exception(std::exchange(thrown, nullptr));
    if constexpr (is_reference) {
      return static_cast<result>(**value);
    } else if constexpr (!std::is_void_v<result>) {
      return std::move(*value);
    }
  }

  F&& f;
  eventually<kept> value;
  std::exception_ptr thrown;
};

}  // namespace core

/// Calls f(), which may block its thread. f runs on a thread that the pool keeps for this, the caller leaves its native stack as at any
/// wait, and its worker runs others. So as many workers run as before, for however long f blocks. Returns what f returns, which must be
/// movable or a reference, or rethrows what it throws. It costs two wake-ups of threads: a call that blocks for a shorter time is better
/// made directly.
///
/// In f the caller is a thread that works for no pool: a block_on in it simply calls; nopal::mutex'es that the caller owns are not f's;
/// forks in f run on default_pool(). f runs in the caller's stop region, whose requests it may poll; block_on itself does not end early. A
/// thread that works for no pool simply calls f.
///
/// pool_options::blocking_threads says how many may block at once; more callers wait for one to end. So calls that wait for each other need
/// as many threads. Throws std::system_error if there is no such thread and none can be started, std::bad_alloc; then f was not called.
///
///     std::string const text = nopal::block_on([&] { return read_file(name); });
template <class F>
std::invoke_result_t<F> block_on(F&& f) {
  static_assert(std::is_invocable_v<F>,
                "nopal: block_on takes something to be called without arguments. Write block_on([&] { return f(a); }).");
  if (core::current_or_null() == nullptr) return std::invoke(std::forward<F>(f));
  core::typed_blocking_call<F> c{std::forward<F>(f)};
  core::call_blocking(c);
  return c.take();
}

}  // namespace nopal
