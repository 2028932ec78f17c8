#pragma once

// eventually: the slot of a child's result if its type has no default constructor. Plain data: one thread at a time may use it. Next:
// task.hpp, whose fork and call fill it; core/task/promise.hpp, where that happens.

#include "nopal/core/compiler/config.hpp"

#include <memory>
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
/// For tasks, which store some results without emplace.
struct eventually_access {
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
