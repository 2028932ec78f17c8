#pragma once

// combinable: an object for each worker that asks for one, and the combination of all.

#include "nopal/core/compiler/config.hpp"

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/loop/made_of.hpp"
#include "nopal/core/scheduler/current_identity.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

/// Throws std::logic_error: an earlier combine has moved the objects out.
[[noreturn]] NOPAL_COLD inline void reject_combining_again() {
  throw std::logic_error{
      "nopal::combinable: combine was called again, and nobody has asked for an object since an earlier one moved all of them out. Call "
      "std::as_const(c).combine(op) where they are to stay, and c.clear() before the next round"};
}

/// op(sum, x), where x is a T&& or a const T&. The latter is copied only if op takes no constant.
template <class T, class Op, class X>
T combined(Op& op, T& sum, X&& x) {
  constexpr bool as_it_is = std::is_lvalue_reference_v<X> ? std::is_invocable_v<Op&, T, X> : std::is_invocable_v<Op&, T, T>;
  if constexpr (as_it_is) {
    return core::joined<T>(op, std::move(sum), static_cast<X&&>(x));
  } else if constexpr (std::is_lvalue_reference_v<X>) {
    return core::joined<T>(op, std::move(sum), T(x));
  } else {
    return core::joined<T>(op, std::move(sum), std::as_const(x));
  }
}

}  // namespace core

/// A T for each worker, or other thread, that asks for one: for sums and tables that many iterations add to. An object is made on first
/// use, as a copy of the initial value or by the function given, and destroyed with the combinable.
///
/// Any thread may call local() at any time. combine, combine_each and clear may be called while no other thread uses the combinable, as
/// after the loop. O(1) expected for local(), linear in workers for these three.
///
/// combine moves the objects out, so tables are merged without a copy. std::as_const(c).combine(op) copies, and leaves them as they are.
/// Objects of a trivially copyable T stay in both cases: a move would not be cheaper.
template <class T>
class combinable {
 public:
  /// Each object begins as T{}.
  combinable()
    requires std::default_initializable<T>
      : combinable{made_by{}, [] { return T{}; }} {}
  /// Each object begins as a copy of `initial`. Throws what copies throw, and std::bad_alloc.
  explicit combinable(T initial)
    requires std::copy_constructible<T>
      : combinable{made_by{}, [value = std::move(initial)] { return T(value); }} {}
  /// Each object begins as what make() returns; several threads may call it at once. What can be called for a T, and is no T itself, is a
  /// `make`, also if a T can be made of it, as a bool of a function. Throws std::bad_alloc, and what copies of `make` throw.
  template <std::copy_constructible F>
    requires(!std::same_as<F, T> && std::is_invocable_r_v<T, const F&>)
  explicit combinable(F make) : combinable{made_by{}, std::move(make)} {}

  ~combinable() { clear(); }
  combinable(const combinable&) = delete;
  combinable& operator=(const combinable&) = delete;

  /// Returns the object of the calling worker. The caller may use it until it next forks, joins or waits: then it may continue on another
  /// worker, and another strand on this one. Throws std::bad_alloc, and what making the object throws.
  T& local() {
    const void* const who = core::current_identity();
    if (node* const found = find(who); found != nullptr) [[likely]]
      return found->value;
    return make_local();
  }

  /// Calls f with each object, in no order.
  template <class F>
  void combine_each(F&& f) {
    for_each_node([&](node& n) { static_cast<void>(std::invoke(f, n.value)); });
  }
  template <class F>
  void combine_each(F&& f) const {
    for_each_node([&](node& n) { static_cast<void>(std::invoke(f, std::as_const(n.value))); });
  }

  /// Returns op over all objects, in no order: op must be commutative and associative. If there are none, returns what an object begins as.
  ///
  /// The objects are moved, the first into the left operand of op, and are gone afterwards, also if something throws. A second combine
  /// without a local() in between throws std::logic_error: call clear() before the next round. Objects of a trivially copyable T are copied
  /// instead and stay; a second combine then gives the same result.
  ///
  /// Throws what op, moves of T and making an object throw.
  template <class Op>
    requires(std::is_invocable_r_v<T, Op&, T, T> || std::is_invocable_r_v<T, Op&, T, const T&>)
  T combine(Op op) {
    if constexpr (std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T>) {
      return fold(op, [](const node& n) -> const T& { return n.value; });
    } else {
      if (was_combined_ && some_node() == nullptr) core::reject_combining_again();
      struct takes_all {
        combinable& from;
        ~takes_all() {
          from.clear();
          from.was_combined_ = true;
        }
      } const at_the_end{*this};
      return fold(op, [](node& n) -> T&& { return std::move(n.value); });
    }
  }
  /// As above, but of copies, so all objects stay. Throws what op, copies of T and making an object throw.
  template <class Op>
    requires(std::copy_constructible<T> && (std::is_invocable_r_v<T, Op&, T, T> || std::is_invocable_r_v<T, Op&, T, const T&>))
  T combine(Op op) const {
    return fold(op, [](const node& n) -> const T& { return n.value; });
  }

  /// Destroys all objects; the combinable is as new.
  void clear() noexcept {
    for (auto& list : lists_) {
      // Acquire, with the release in local(): the object was made by another thread.
      for (node* it = list.exchange(nullptr, std::memory_order::acquire); it != nullptr;) delete std::exchange(it, it->next);
    }
    was_combined_ = false;
  }

 private:
  /// Objects of different workers share no cache line.
  struct alignas(core::tuning::destructive_size) alignas(T) node {
    explicit node(const std::function<T()>& make) : value(make()) {}
    T value;
    const void* who = nullptr;
    node* next = nullptr;
  };
  struct made_by {};
  /// A tag: a T may be made of anything, also of a function.
  template <class F>
  combinable(made_by, F make) : make_{std::move(make)} {}

  template <class F>
  void for_each_node(F&& f) const {
    for (auto& list : lists_) {
      // Acquire, with the release in local(): the object was made by another thread.
      for (node* it = list.load(std::memory_order::acquire); it != nullptr; it = it->next) f(*it);
    }
  }

  /// Returns one of the nodes, or null if there is none.
  node* some_node() const {
    node* some = nullptr;
    for_each_node([&](node& n) { some = &n; });
    return some;
  }

  /// `value`: T&& or const T& of a node. T need be neither assignable nor have a default.
  template <class Op, class Value>
  T fold(Op& op, const Value& value) const {
    node* const first = some_node();
    if (first == nullptr) return make_();
    const auto with_others = [&](const auto& take_one) {
      for_each_node([&](node& n) {
        if (std::addressof(n) != first) take_one(n);
      });
    };
    if constexpr (std::is_move_assignable_v<T>) {
      T sum(value(*first));
      with_others([&](node& n) { sum = core::combined<T>(op, sum, value(n)); });
      return static_cast<T&&>(sum);  // GCC 12 would prefer a T(T&)
    } else {
      auto sum = std::make_unique<T>(value(*first));
      with_others([&](node& n) { sum = std::make_unique<T>(core::combined<T>(op, *sum, value(n))); });
      return T(std::move(*sum));
    }
  }

  /// The object of `who`; null: none. Acquire, with the release in make_local: a thread that finds its object finds it constructed. Only its
  /// own worker adds it, and so finds it the next time.
  node* find(const void* who) const {
    node* it = lists_[place_of(who)].load(std::memory_order::acquire);
    while (it != nullptr && it->who != who) it = it->next;
    return it;
  }
  /// Makes the caller's object. make_() may fork, join or wait: the caller may be on another worker then, which may have an object.
  NOPAL_COLD T& make_local() {
    auto mine = std::make_unique<node>(make_);
    const void* const who = core::current_identity();
    if (find(who) != nullptr) {
      mine = nullptr;  // that may wait too
      return local();
    }
    mine->who = who;
    std::atomic<node*>& list = lists_[place_of(who)];
    mine->next = list.load(std::memory_order::relaxed);  // the exchange checks it
    // Release, with the acquire in find and that of combine_each.
    while (!list.compare_exchange_weak(mine->next, mine.get(), std::memory_order::release, std::memory_order::relaxed)) {
    }
    return mine.release()->value;
  }

  static constexpr unsigned place_bits = 6;
  static std::size_t place_of(const void* who) {
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(who) * 0x9E37'79B9'7F4A'7C15 >> (64 - place_bits));
  }

  std::function<T()> make_;
  bool was_combined_ = false;  ///< what there was has been moved out
  std::array<std::atomic<node*>, std::size_t{1} << place_bits> lists_{};
};

}  // namespace nopal
