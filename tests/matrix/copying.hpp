#pragma once

// The algorithms of the matrix that copy a range, or parts of it, to another place. Each is written once and run both ways, as those of algorithms.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <vector>

#include "algorithms.hpp"
#include "calls.hpp"
#include "nopal/algorithm.hpp"
#include "values.hpp"

namespace test::matrix {

/// Which of the two a way takes.
template <class Way, class Serial, class Parallel>
constexpr auto& of_way(Serial& serial, Parallel& parallel) {
  if constexpr (Way::is_serial) {
    return serial;
  } else {
    return parallel;
  }
}

struct copies {
  static constexpr char const* name = "copy, copy_n, reverse_copy, rotate_copy, uninitialized_copy";
  template <class Way, class R, class T>
  static outcome of(R& r, std::vector<T> const& all, std::identity) {
    std::vector<stored<T>> out(all.size());
    outcome result;
    auto const add = [&](auto const& ends) {
      result.insert(result.end(), {all_of_it(out), place_in(r, ends.in), place_in(out, ends.out)});
    };
    add(of_way<Way>(std::ranges::copy, nopal::copy)(r, out.begin()));
    add(of_way<Way>(std::ranges::reverse_copy, nopal::reverse_copy)(r, out.begin()));
    auto const third = static_cast<std::ptrdiff_t>(all.size() / 3);
    add(of_way<Way>(std::ranges::rotate_copy, nopal::rotate_copy)(r, std::ranges::begin(r) + third, out.begin()));
    add(of_way<Way>(std::ranges::copy_n, nopal::copy_n)(std::ranges::begin(r), third, out.begin()));
    std::allocator<stored<T>> memory;
    stored<T>* const made = memory.allocate(all.size());
    std::ranges::subrange const place{made, made + all.size()};
    of_way<Way>(std::ranges::uninitialized_copy, nopal::uninitialized_copy)(r, place);
    result.push_back(all_of_it(place));
    of_way<Way>(std::ranges::destroy, nopal::destroy)(place);
    memory.deallocate(made, all.size());
    return result;
  }
};
struct replaced_copies {
  static constexpr char const* name = "replace_copy, replace_copy_if";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    if (all.empty()) return {};
    projection_of<P, T> const looked_for = std::invoke(p, all[all.size() / 2]);
    stored<T> const other = all[0];
    std::vector<stored<T>> out(all.size());
    auto ends = of_way<Way>(std::ranges::replace_copy, nopal::replace_copy)(r, out.begin(), looked_for, other, p);
    outcome result{all_of_it(out), place_in(r, ends.in), place_in(out, ends.out)};
    of_way<Way>(std::ranges::replace_copy_if, nopal::replace_copy_if)(r, out.begin(), third{}, other, p);
    result.push_back(all_of_it(out));
    return result;
  }
};
struct partition_copy {
  static constexpr char const* name = "partition_copy";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    std::vector<stored<T>> yes(all.size());
    std::vector<stored<T>> no(all.size());
    auto const ends = of_way<Way>(std::ranges::partition_copy, nopal::partition_copy)(r, yes.begin(), no.begin(), third{}, p);
    return {all_of_it(yes), all_of_it(no), place_in(r, ends.in), place_in(yes, ends.out1), place_in(no, ends.out2)};
  }
};
struct partial_sort_copy {
  static constexpr char const* name = "partial_sort_copy";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    std::vector<stored<T>> out(all.size() - all.size() / 3);
    auto const ends = of_way<Way>(std::ranges::partial_sort_copy, nopal::partial_sort_copy)(r, out, lighter{}, p, p);
    outcome result{place_in(r, ends.in), place_in(out, ends.out)};
    for (auto const& x : out) result.push_back(matrix::weigh(std::invoke(p, x)));
    return result;
  }
};
struct sets {
  static constexpr char const* name = "set_union, set_intersection, set_difference, set_symmetric_difference";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    std::vector<T> const some(all.begin() + static_cast<std::ptrdiff_t>(all.size() / 3), all.end());
    std::vector<stored<T>> out(all.size() + some.size());
    less_where_sorted const less{std::ranges::is_sorted(all, std::ranges::less{}, p)};
    outcome result;
    auto const add = [&](auto const& algorithm) {
      std::ranges::fill(out, stored<T>{});
      auto const ends = algorithm(r, some, out.begin(), less, p, p);
      result.insert(result.end(), {all_of_it(out), place_in(out, ends.out)});
    };
    add(of_way<Way>(std::ranges::set_union, nopal::set_union));
    add(of_way<Way>(std::ranges::set_intersection, nopal::set_intersection));
    add(of_way<Way>(std::ranges::set_difference, nopal::set_difference));
    add(of_way<Way>(std::ranges::set_symmetric_difference, nopal::set_symmetric_difference));
    return result;
  }
};

using copying = list<replaced_copies, partition_copy, partial_sort_copy, sets>;
using copying_without_projection = list<copies>;

}  // namespace test::matrix
