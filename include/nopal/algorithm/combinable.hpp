#pragma once

// nopal::combinable: an object for each worker that asks for one, and what they are together.

#include "nopal/core/compiler/config.hpp"

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/asker.hpp"

namespace nopal::inline NOPAL_ABI {

/// A T for each worker, or other thread, that asks for one: for sums and tables that many iterations add to. Made on first use, as a copy of the
/// initial value or by the function given; destroyed with the combinable.
///
/// Any thread may call local() at any time; combine, combine_each and clear may be called when no other thread uses the combinable, as after the
/// loop. O(1) each expected, linear in workers for the latter three.
template <class T>
class combinable {
 public:
  /// Each object begins as T{}.
  combinable()
    requires std::default_initializable<T>
      : combinable{[] { return T{}; }} {}
  /// Each object begins as a copy of `initial`. Throws what copies throw, and std::bad_alloc.
  explicit combinable(T initial)
    requires std::copy_constructible<T>
      : combinable{[value = std::move(initial)] { return T(value); }} {}
  /// Each object begins as what make() returns; several threads may call it at once. Throws std::bad_alloc, and what copies of `make` throw.
  template <std::copy_constructible F>
    requires std::is_invocable_r_v<T, const F&> && (!std::convertible_to<F, T>)
  explicit combinable(F make) : make_{std::move(make)} {}

  ~combinable() { clear(); }
  combinable(const combinable&) = delete;
  combinable& operator=(const combinable&) = delete;

  /// The object of the worker that asks. It is the caller's until it next forks, joins or waits: then the caller may work on another worker, and
  /// another strand on this one. Throws std::bad_alloc, and what making the object throws.
  T& local() {
    const void* const who = core::asker();
    std::atomic<node*>& list = lists_[place_of(who)];
    // Acquire, with the release below: who finds its object finds it made. Only its own worker adds it, and so finds it the next time.
    for (node* it = list.load(std::memory_order::acquire); it != nullptr; it = it->next) {
      if (it->who == who) return it->value;
    }
    node* const mine = new node{who, make_};
    mine->next = list.load(std::memory_order::relaxed);  // the exchange checks it
    // Release, with the acquire above and that of combine_each.
    while (!list.compare_exchange_weak(mine->next, mine, std::memory_order::release, std::memory_order::relaxed)) {
    }
    return mine->value;
  }

  /// Calls f with each object, in no order.
  template <class F>
  void combine_each(F&& f) {
    for (auto& list : lists_) {
      for (node* it = list.load(std::memory_order::acquire); it != nullptr; it = it->next) static_cast<void>(std::invoke(f, it->value));
    }
  }

  /// op over all objects, in no order: op must be commutative and associative. If nobody has asked for one, what an object begins as. Throws what
  /// op, copies of T and making an object throw.
  template <class Op>
    requires std::copy_constructible<T> && std::is_invocable_r_v<T, Op&, T, const T&>
  T combine(Op op) {
    std::unique_ptr<T> sum;
    combine_each([&](T& value) {
      sum = std::make_unique<T>(sum ? static_cast<T>(std::invoke(op, std::move(*sum), std::as_const(value))) : T(value));
    });
    return sum ? std::move(*sum) : make_();
  }

  /// Destroys all objects, as if nobody had asked.
  void clear() noexcept {
    for (auto& list : lists_) {
      // Acquire, with the release in local(): the object was made by another thread.
      for (node* it = list.exchange(nullptr, std::memory_order::acquire); it != nullptr;) delete std::exchange(it, it->next);
    }
  }

 private:
  /// Objects of different workers share no cache line.
  struct alignas(core::tuning::destructive_size) alignas(T) node {
    node(const void* asker, const std::function<T()>& make) : value(make()), who{asker} {}
    T value;
    const void* who;
    node* next = nullptr;
  };

  static constexpr unsigned place_bits = 6;
  static std::size_t place_of(const void* who) {
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(who) * 0x9E37'79B9'7F4A'7C15 >> (64 - place_bits));
  }

  std::function<T()> make_;
  std::array<std::atomic<node*>, std::size_t{1} << place_bits> lists_{};
};

}  // namespace nopal
