#pragma once

// What the algorithms cannot do, said in one line: overloads for arguments that no other overload takes. Each algorithm derives from those
// that it needs.

#include <cstddef>
#include <iterator>
#include <ranges>
#include <type_traits>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

template <class... T>
inline constexpr bool refused = sizeof...(T) == ~std::size_t{0};  // false, but only once T is known

template <class I>
inline constexpr bool is_move_iterator = false;
template <class I>
inline constexpr bool is_move_iterator<std::move_iterator<I>> = true;
template <class R>
concept only_in_order = std::ranges::range<R> && !std::ranges::random_access_range<R>;
template <class I>
concept goes_in_order = std::input_or_output_iterator<I> && !std::random_access_iterator<I>;
template <class I, class... S>
inline constexpr bool begins_range = false;
template <class I, class S, class... A>
inline constexpr bool begins_range<I, S, A...> = std::sentinel_for<std::remove_cvref_t<S>, I>;
template <class O>
concept no_place_for_threads = std::input_or_output_iterator<O> && !parallel_iterator<O>;
template <class R>
concept no_range_for_threads = std::ranges::random_access_range<R> && !parallel_iterator<std::ranges::iterator_t<R>>;

/// The result of a refusal. It can be used as any result, so that the compiler reports nothing else. Refusals deduce their return types: so
/// their message comes first.
struct any_result {
  template <class T>
  operator T() const;
  any_result operator*() const;
  template <class T>
  friend bool operator==(const any_result&, const T&);
};

/// Refuses ranges that cannot be cut, as the first that an algorithm takes.
struct refuses_lists {
  template <only_in_order R, class... A>
  auto operator()(R&&, A&&...) const {
    return say<R>();
  }
  template <goes_in_order I, std::sentinel_for<I> S, class... A>
  auto operator()(I, S, A&&...) const {
    return say<I>();
  }
  template <class T>
  static auto say() {
    static_assert(
        !is_move_iterator<T>,
        "nopal: a std::move_iterator has no random access in C++20. Move in the function: nopal::transform(v, out, [](auto& x) { return "
        "std::move(x); }).");
    static_assert(
        refused<T> || is_move_iterator<T>,
        "nopal: an algorithm cuts its range anywhere, so it needs random access, as that of a vector, deque, array or span. For a "
        "list, map or set put pointers to the elements into a vector first, or fork for each element in a nopal::scope.");
    return any_result{};
  }
};

/// Refuses elements that threads cannot write at once, in the range that the algorithm writes.
struct refuses_proxies : refuses_lists {
  using refuses_lists::operator();
  template <no_range_for_threads R, class... A>
  auto operator()(R&&, A&&...) const {
    return say_proxy<R>();
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, class... A>
    requires no_place_for_threads<I>
  auto operator()(I, S, A&&...) const {
    return say_proxy<I>();
  }
  template <class T>
  static auto say_proxy() {
    static_assert(
        refused<T>,
        "nopal: threads write the elements at once, so each must be an object of its own. Those of std::vector<bool> share bytes, and "
        "those of many views are values: take a std::vector<char>, say.");
    return any_result{};
  }
};

/// Refuses places where threads cannot write at once, where the algorithm writes to an iterator behind one range.
struct refuses_inserters : refuses_lists {
  using refuses_lists::operator();
  template <std::ranges::random_access_range R, no_place_for_threads O, class... A>
  auto operator()(R&&, O, A&&...) const {
    return say_place<O>();
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, no_place_for_threads O, class... A>
    requires(!begins_range<O, A...>)
  auto operator()(I, S, O, A&&...) const {
    return say_place<O>();
  }
  template <class T>
  static auto say_place() {
    static_assert(
        refused<T>,
        "nopal: threads write the results at once, each to an object at its place: give an iterator of random access, as out.begin() "
        "of a vector that has the size already. A std::back_inserter has no places, elements of std::vector<bool> share bytes.");
    return any_result{};
  }
};

/// Refuses the second of two ranges, and the place behind both.
struct refuses_second {
  template <std::ranges::random_access_range R, only_in_order Q, class... A>
  auto operator()(R&&, Q&&, A&&...) const {
    return refuses_lists::say<Q>();
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, goes_in_order J, std::sentinel_for<J> E, class... A>
  auto operator()(I, S, J, E, A&&...) const {
    return refuses_lists::say<J>();
  }
};
struct refuses_inserters_behind_two : refuses_second {
  using refuses_second::operator();
  template <std::ranges::random_access_range R, std::ranges::random_access_range Q, no_place_for_threads O, class... A>
  auto operator()(R&&, Q&&, O, A&&...) const {
    return refuses_inserters::say_place<O>();
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, std::random_access_iterator J, std::sentinel_for<J> E,
            no_place_for_threads O, class... A>
  auto operator()(I, S, J, E, O, A&&...) const {
    return refuses_inserters::say_place<O>();
  }
};

/// As refuses_proxies, for the second of two ranges that are written.
struct refuses_second_proxies : refuses_second {
  using refuses_second::operator();
  template <std::ranges::random_access_range R, no_range_for_threads Q, class... A>
  auto operator()(R&&, Q&&, A&&...) const {
    return refuses_proxies::say_proxy<Q>();
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, std::random_access_iterator J, std::sentinel_for<J> E, class... A>
    requires no_place_for_threads<J>
  auto operator()(I, S, J, E, A&&...) const {
    return refuses_proxies::say_proxy<J>();
  }
};
/// As refuses_inserters, for the second of two places behind one range.
struct refuses_second_inserter : refuses_inserters {
  using refuses_inserters::operator();
  template <std::ranges::random_access_range R, parallel_iterator O1, no_place_for_threads O2, class... A>
  auto operator()(R&&, O1, O2, A&&...) const {
    return say_place<O2>();
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O1, no_place_for_threads O2, class... A>
  auto operator()(I, S, O1, O2, A&&...) const {
    return say_place<O2>();
  }
};

/// As refuses_lists and refuses_inserters, for an iterator and a number of elements.
struct refuses_counted_lists {
  template <goes_in_order I, class... A>
  auto operator()(I, std::iter_difference_t<I>, A&&...) const {
    return refuses_lists::say<I>();
  }
};
struct refuses_counted_places {
  template <no_place_for_threads O, class... A>
  auto operator()(O, std::iter_difference_t<O>, A&&...) const {
    return refuses_inserters::say_place<O>();
  }
};
struct refuses_counted_inserters : refuses_counted_lists {
  using refuses_counted_lists::operator();
  template <std::random_access_iterator I, no_place_for_threads O, class... A>
  auto operator()(I, std::iter_difference_t<I>, O, A&&...) const {
    return refuses_inserters::say_place<O>();
  }
};

}  // namespace nopal::core::algorithms
