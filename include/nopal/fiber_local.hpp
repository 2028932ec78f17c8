#pragma once

// fiber_local: a value of each fiber, as a thread_local variable is one of each thread. What is not a fiber has it, too: a job, and a thread
// off all pools. What these fork sees theirs. Next: core/scheduler/fiber_values.hpp, the list of a fiber's values.

#include "nopal/core/compiler/config.hpp"

#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/core/base/fatal.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

/// What all fiber-locals have, whatever their type.
class NOPAL_API any_fiber_local {
 public:
  any_fiber_local(any_fiber_local const&) = delete;
  any_fiber_local& operator=(any_fiber_local const&) = delete;

 protected:
  using maker = void* (*)(any_fiber_local & me);
  using ender = void (*)(void* value) noexcept;

  any_fiber_local(maker m, ender e) noexcept : make_{m}, end_{e} {}
  ~any_fiber_local() = default;
  /// Destroys the destroyer's value. If there are others, ends the program with a message; in exit returns false instead: they are used
  /// still, and so is this.
  NOPAL_COLD bool ends() noexcept;
  /// The value of the caller, made if there is none. Throws what making it throws, std::bad_alloc, and std::system_error.
  void* find_or_make();
  /// The value of the caller, or null.
  void* find() const noexcept;

 private:
  struct place;

  maker const make_;
  ender const end_;
  std::atomic<std::size_t> values_{0};  // that exist
};

/// Ends the program with a message: the destructor of a fiber-local value has thrown `e`.
NOPAL_API [[noreturn]] NOPAL_COLD void die_ending_value(std::exception_ptr const& e) noexcept;

}  // namespace core

/// A T of each fiber, made when the fiber first asks for it, and destroyed when the fiber ends.
///
/// Each of these has a value of its own: a fiber; a job of pool::submit and pool::detach, with all tasks of it; a thread that works for no
/// pool, until the thread ends. Everything else works for one of them, and sees that one's value, on whatever worker it runs: both sides of
/// parallel_invoke, the children of a scope, tasks that a task forks or calls, the body of a loop or an algorithm, nodes of a graph and stages
/// of a pipeline, and what pool::run, sync_wait and block_on call. So children that were forked share the T with their parent and each other,
/// and may use it at the same time: it needs what any shared object needs. A fiber that is spawned, or a job that is submitted, shares nothing.
///
/// A reference to the value stays good until its fiber ends, also over forks, joins and waits, unlike one to a thread_local.
///
/// Values are destroyed in the reverse order of their first use, after the fiber's closure and before its counter counts down; those of a
/// job before its future is ready, and after its callable and arguments, unless its result may refer to these (pool.hpp). Their destructors
/// may use fiber-locals, and wait. A destructor that throws ends the program with a message. The fiber_local must outlive all values but
/// that of its destroyer, which it destroys; else the program ends with a message. So make it static, or wait first for what uses it.
///
///     nopal::fiber_local<std::string> request;
///     nopal::spawn(left, [] { *request = "7"; serve(); });          // serve, and all that it forks, reads "7"
template <class T>
class fiber_local : core::any_fiber_local {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> && !std::is_const_v<T>,
                "nopal: fiber_local<T> makes a T for each fiber: no reference, no array, no constant. Write fiber_local<U*> for a U&, and "
                "fiber_local<std::array<U, n>> for an array.");

 public:
  /// Each value begins as T{}.
  fiber_local() : fiber_local{made_by{}, from_nothing()} {}
  /// Each value begins as a copy of `initial`.
  explicit fiber_local(T initial)
    requires std::is_copy_constructible_v<T>
      : fiber_local{made_by{}, [value = std::move(initial)] { return T(value); }} {}
  /// Each value begins as what make() returns. Several fibers may call it at once. What can be called for a T, and is no T itself, is a
  /// `make`, also if a T can be made of it, as a bool of a function.
  template <class F>
    requires(!std::is_same_v<F, fiber_local> && !std::is_same_v<F, T>) && std::copy_constructible<F> && std::is_invocable_r_v<T, F const&>
  explicit fiber_local(F make) : fiber_local{made_by{}, std::move(make)} {}
  fiber_local(fiber_local const&) = delete;
  fiber_local& operator=(fiber_local const&) = delete;
  ~fiber_local() {
    if (ends()) std::destroy_at(std::addressof(make_));
  }

  /// The caller's value. On first use makes it: once, also if several children of a fiber ask at the same time, of which the others wait
  /// (suspends, as a mutex does). Throws what making it throws, after which the next caller makes it; std::bad_alloc; and std::system_error
  /// (resource_deadlock_would_occur) if making it asks for it. O(fiber-locals that this fiber uses).
  T& local() { return static_cast<kept*>(find_or_make())->value; }
  T& operator*() { return local(); }
  T* operator->() { return std::addressof(local()); }
  /// True if the caller's value is made. O(fiber-locals that this fiber uses).
  bool has_value() const noexcept { return find() != nullptr; }

 private:
  struct made_by {};
  /// A tag: a T may be made of anything, also of a function.
  template <class F>
  fiber_local(made_by, F make) : any_fiber_local{make_value, end_value}, make_{std::move(make)} {}

  struct kept {
    explicit kept(std::function<T()> const& make) : value(make()) {}
    T value;
  };

  static constexpr bool is_made_of_nothing = requires { T{}; };  // not default_initializable: the destructor may throw
  static std::function<T()> from_nothing() {
    static_assert(is_made_of_nothing,
                  "nopal: this T has no default constructor. Give the fiber_local a function that makes one: "
                  "fiber_local<T> x{[] { return T{arguments}; }};");
    if constexpr (is_made_of_nothing) {
      return [] { return T{}; };
    } else {
      return {};
    }
  }
  static void* make_value(any_fiber_local& me) { return new kept{static_cast<fiber_local&>(me).make_}; }
  static void end_value(void* value) noexcept {
    try {
      delete static_cast<kept*>(value);
    } catch (...) {
      core::die_ending_value(core::caught());
    }
  }

  union {
    std::function<T()> make_;  // destroyed, unless others use it in exit
  };
};

}  // namespace nopal
