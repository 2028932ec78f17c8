// The matrix: iterators with rvalue references, as those of std::move_iterator, which from C++23 on is of random access. Scans, which read
// each element twice, are left out.

#include <gtest/gtest.h>

#include <cstddef>
#include <ranges>
#include <string>
#include <vector>

#include "cells.hpp"

namespace {

using namespace test::matrix;

struct reduce_once {
  static constexpr char const* name = "reduce";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const&, P p) {
    using sum = projection_of<P, T>;
    return {test::matrix::weigh(Way::reduce(r, sum{}, joined<sum>{}, p))};
  }
};
using reading_once =
    list<reduce_once, transform_reduce, transform_reduce_pairs, transform_reduce_both, count, count_if, find, find_if, any_all_none, least,
         least_and_greatest, for_each, transform, transform_pairs, copy_if, merge, partition_copy, partial_sort_copy>;

auto const records_of = [](std::size_t n) {
  std::vector<record> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(record_of(number_at(i)));
  return v;
};
auto const moved = [](auto& v) {
  moving_iterator<record> first;
  first.first = v.data();
  return std::ranges::subrange{first, first + static_cast<std::ptrdiff_t>(v.size())};
};

TEST(moving, reads_each_element_once) {
  auto const view = moved;
  std::deque<sample<std::vector<record>, record>> samples;
  for (std::size_t const n : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{1000}, fewer, large_size}) {
    samples.emplace_back(n, records_of(n), records_of(n));
  }
  row("moved records", view, samples, by_identity, reading_once{});
  row("moved records", view, samples, projection{"member", &record::name}, reading_once{});
  row("moved records", view, samples, projection{"reference", [](record const& r) -> std::string const& { return r.name; }},
      reading_once{});
  row("moved records", view, samples, by_identity, list<histogram>{});
  row("moved records", view, samples, by_identity, list<differences, equal_mismatch, neighbours, patterns, inclusion>{});
}

}  // namespace
