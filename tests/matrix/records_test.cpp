// The matrix: ranges of strings, of records and of proxies.

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "cells.hpp"

namespace {

using namespace test::matrix;
namespace views = std::views;

template <class V>
V filled(std::size_t n) {
  V v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(record_of(number_at(i)));
  return v;
}
auto const vector_of = filled<std::vector<record>>;
auto const deque_of = filled<std::deque<record>>;
auto const nothing_of = [](std::size_t n) { return static_cast<long>(n); };
auto const strings_of = [](std::size_t n) {
  std::vector<std::string> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(string_of(number_at(i)));
  return v;
};
auto const itself = [](auto& v) -> auto& { return v; };
auto const to_record = [](long i) { return record_of(number_at(static_cast<std::size_t>(i))); };
auto const to_string = [](long i) { return string_of(number_at(static_cast<std::size_t>(i))); };

projection const by_value{"value", [](record const& r) { return r.name; }};
projection const by_reference{"reference", [](record const& r) -> std::string const& { return r.name; }};
projection const by_member{"member", &record::name};
projection const by_number{"member that is a number", &record::key};
projection const by_function{"member function", &record::half};
projection const by_function_of_reference{"member function that refers", &record::named};
projection const same_string{"reference", [](std::string const& s) -> std::string const& { return s; }};

TEST(records, vector) { over("vector of records", vector_of, itself, by_value, by_member); }
TEST(records, that_are_sorted) {
  auto const make = [](std::size_t n) {
    std::vector<record> v;
    for (std::size_t i = 0; i < n; ++i) v.push_back({.key = sorted_at(i), .name = string_of(number_at(i))});
    return v;
  };
  over_too("vector of sorted records", make, itself, by_number);
  over(
      "vector of sorted records | transform", make, [](auto& v) { return v | views::transform([](record const& r) { return r; }); },
      by_number);
}
TEST(records, deque) { over("deque of records", deque_of, itself, by_reference, by_number, by_function_of_reference); }
TEST(records, transform_by_value) {
  over(
      "iota | transform to records", nothing_of, [](long& n) { return views::iota(0L, n) | views::transform(to_record); }, by_value,
      by_reference, by_member, by_number, by_function, by_function_of_reference);
}
TEST(records, reverse) {
  over_too(
      "iota | transform to records | reverse", nothing_of,
      [](long& n) { return views::iota(0L, n) | views::transform(to_record) | views::reverse; }, by_reference, by_number);
}
TEST(records, take_and_drop) {
  over_too(
      "iota | transform to records | take | drop", nothing_of,
      [](long& n) { return views::iota(0L, n) | views::transform(to_record) | views::take(n) | views::drop(2); }, by_member);
}

TEST(strings, vector) { over("vector of strings", strings_of, itself, same_string, projection{"size", &std::string::size}); }
TEST(strings, transform_by_value) {
  over(
      "iota | transform to strings", nothing_of, [](long& n) { return views::iota(0L, n) | views::transform(to_string); }, same_string,
      projection{"size", &std::string::size});
}
TEST(strings, transform_by_reference) {
  over_too(
      "vector of records | transform to its names", vector_of, [](auto& v) { return v | views::transform(&record::name); }, same_string);
  over(
      "iota | transform to a reference", strings_of,
      [](auto& v) {
        return views::iota(std::size_t{0}, v.size()) | views::transform([&v](std::size_t i) -> std::string const& { return v[i]; });
      },
      same_string);
}
TEST(strings, keys_and_values) {
  over_too(
      "iota | transform to pairs | values", nothing_of,
      [](long& n) { return views::iota(0L, n) | views::transform([](long i) { return std::pair{i, to_string(i)}; }) | views::values; },
      same_string);
}

TEST(zips, of_two_vectors) {
  struct columns {
    std::vector<long> keys;
    std::vector<std::string> names;
  };
  auto const make = [](std::size_t n) {
    columns c;
    for (std::size_t i = 0; i < n; ++i) c.keys.push_back(number_at(i)), c.names.push_back(string_of(number_at(i) / 2));
    return c;
  };
  auto const view = [](columns& c) {
    zip_iterator first;
    first.keys = c.keys.data();
    first.names = c.names.data();
    return std::ranges::subrange{first, first + static_cast<std::ptrdiff_t>(c.keys.size())};
  };
  over("zip", make, view, projection{"what its reference refers to", [](auto const& z) -> std::string const& { return z.name; }},
       projection{"value", [](auto const& z) { return z.key; }});
  over_too(
      "zip | reverse", make, [&](columns& c) { return view(c) | views::reverse; },
      projection{"what its reference refers to", [](auto const& z) -> long const& { return z.key; }});
}

}  // namespace
