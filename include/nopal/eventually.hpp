#pragma once

// eventually: the slot of a child's result if its type has no default constructor. Plain data: one thread at a time may use it. Next:
// task.hpp, whose fork and call fill it; core/task/promise.hpp, where that happens.

#include "nopal/core/compiler/config.hpp"

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace nopal::inline NOPAL_ABI {

namespace core {
struct eventually_access;
}

/// A place for a result that does not exist yet: a slot for tasks whose T has no default constructor.
///
/// `fork(&e, f, …)` with an `eventually<T> e` constructs the T in place; after the join, `*e` is that T. Reading it before the join, or if
/// the child has thrown, is undefined behaviour, as for an empty std::optional.
template <class T>
class eventually {
 public:
  eventually() noexcept {}  // NOLINT(modernize-use-equals-default): the union member stays raw
  eventually(eventually const&) = delete;
  eventually& operator=(eventually const&) = delete;
  ~eventually()
    requires std::is_trivially_destructible_v<T>
  = default;
  ~eventually() {
    if (full_) std::destroy_at(std::addressof(value_));
  }

  /// Constructs the value from `a`, and returns it. First destroys a value that is there already. Throws what the constructor throws.
  template <class... A>
  T& emplace(A&&... a) {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      if (std::exchange(full_, false)) std::destroy_at(std::addressof(value_));
    }
    std::construct_at(std::addressof(value_), std::forward<A>(a)...);
    full_ = true;
    return value_;
  }

  /// The value. Only if has_value().
  T& operator*() & noexcept { return value_; }
  T const& operator*() const& noexcept { return value_; }
  T&& operator*() && noexcept { return std::move(value_); }
  T* operator->() noexcept { return std::addressof(value_); }
  T const* operator->() const noexcept { return std::addressof(value_); }
  /// True if a value has been constructed: of a slot after the join, and then false if the child has thrown.
  bool has_value() const noexcept { return full_; }

 private:
  friend struct core::eventually_access;

  union {
    T value_;
  };
  bool full_ = false;
};

namespace core {
/// What a T is made of, if `x` is what is given for it. Of another T, but for one that may be moved from, it is the copy that
/// std::copyable asks for, from a constant. Else a constructor that takes anything, a `template <class U> T(U&&)`, would win, and make
/// something else: for an element that is no constant, and for a constant that a function returns by value.
template <class T, class X>
NOPAL_INLINE constexpr decltype(auto) source_of(X&& x) noexcept {
  constexpr bool is_moved = !std::is_lvalue_reference_v<X> && !std::is_const_v<X>;
  if constexpr (!is_moved && std::is_same_v<std::remove_cvref_t<X>, std::remove_cv_t<T>> && std::is_copy_constructible_v<T>) {
    return std::as_const(x);
  } else {
    return static_cast<X&&>(x);
  }
}

/// For tasks and jobs, which store some results without emplace.
struct eventually_access {
  /// The value becomes what f() returns, whatever a T makes of others: if that is a T, const or not, it is this object, and none is moved.
  /// Throws what f and the constructor throw.
  template <class T, class F>
  static void make(eventually<T>& e, F&& f) {
    if constexpr (!std::is_trivially_destructible_v<T>) empty(e);
    ::new (static_cast<void*>(std::addressof(e.value_))) T(std::forward<F>(f)());
    e.full_ = true;
  }
  /// The value is stored by other means, or will be.
  template <class T>
    requires std::is_trivially_destructible_v<T>
  static void fill(eventually<T>& e) noexcept {
    e.full_ = true;
  }
  template <class T>
  static void empty(eventually<T>& e) noexcept {
    if (std::exchange(e.full_, false)) std::destroy_at(std::addressof(e.value_));
  }
};
}  // namespace core

}  // namespace nopal
