#pragma once

// Sorts what --data names: random numbers, strings and pairs, and pairs in patterns, which are sorted by comparisons.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../harness.hpp"

namespace bench {

struct sort_problem {
#if defined(NOPAL_BENCH_STABLE)
  static constexpr const char* name = "stable_sort";
#else
  static constexpr const char* name = "sort";
#endif
  using pair = std::pair<std::int32_t, std::int32_t>;
  using values_type = std::variant<std::vector<std::int32_t>, std::vector<double>, std::vector<std::string>, std::vector<pair>>;

  explicit sort_problem(const options& opts)
      : n{pick(opts, {.smoke = 20'000, .standard = 4'000'000, .paper = 100'000'000})}, before{make(opts.data)}, values{before} {}

  /// Calls f with the vector to be sorted.
  template <class F>
  void with_values(const F& f) {
    std::visit(f, values);
  }

  void reset() { values = before; }
  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(sum(values)); }
  [[nodiscard]] bool correct() const {
    return std::visit([](const auto& v) { return std::ranges::is_sorted(v); }, values) && sum(values) == sum(before);
  }

  std::size_t n;
  values_type before;
  values_type values;

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
  }

  template <class T, class F>
  [[nodiscard]] values_type each(const F& value) const {
    std::vector<T> v;
    v.reserve(n);
    for (std::size_t i = 0; i < n; ++i) v.push_back(value(i, mixed((i + 1) * 0x9E3779B97F4A7C15)));
    return v;
  }

  [[nodiscard]] values_type make(const std::string& data) const {
    const auto pattern = [&](auto key) {
      return each<pair>([&](std::size_t i, std::uint64_t) { return pair{static_cast<std::int32_t>(key(i)), 0}; });
    };
    const std::map<std::string, std::function<values_type()>> ways = {
        {"ints", [&] { return each<std::int32_t>([](std::size_t, std::uint64_t x) { return static_cast<std::int32_t>(x >> 32); }); }},
        {"doubles", [&] { return each<double>([](std::size_t, std::uint64_t x) { return static_cast<double>(x >> 11) * 0x1p-53; }); }},
        {"strings", [&] { return each<std::string>([](std::size_t, std::uint64_t x) { return std::to_string(x % 1'000'000'000'000); }); }},
        {"pairs",
         [&] {
           return each<pair>(
               [](std::size_t, std::uint64_t x) { return pair{static_cast<std::int32_t>(x >> 44), static_cast<std::int32_t>(x)}; });
         }},
        {"sorted", [&] { return pattern([](std::size_t i) { return i; }); }},
        {"reversed", [&] { return pattern([&](std::size_t i) { return n - i; }); }},
        {"equal", [&] { return pattern([](std::size_t) { return 7; }); }},
        {"sawtooth", [&] { return pattern([](std::size_t i) { return i % 1000; }); }},
        {"few", [&] { return pattern([](std::size_t i) { return mixed(i) % 10; }); }},
    };
    const auto way = ways.find(data);
    if (way == ways.end()) {
      throw std::invalid_argument{"--data is '" + data +
                                  "'; it can be ints, doubles, strings, pairs, sorted, reversed, equal, sawtooth or few"};
    }
    return way->second();
  }

  // The sum over a hash of each: the same for each order.
  static std::uint64_t sum(const values_type& values) {
    return std::visit(
        [](const auto& v) {
          std::uint64_t result = 0;
          for (const auto& x : v) result += mixed(hash(x));
          return result;
        },
        values);
  }
  template <class T>
  static std::uint64_t hash(const T& x) {
    return std::hash<T>{}(x);
  }
  static std::uint64_t hash(const pair& x) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(x.first)) << 32 | static_cast<std::uint32_t>(x.second);
  }
};

}  // namespace bench
