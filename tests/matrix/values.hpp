#pragma once

// The elements of the ranges of the matrix: numbers, strings and records, each a function of its place; the functions that count and
// compare them; and iterators that the standard library of C++20 does not have.

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace test::matrix {

/// Values repeat, and are not sorted; those of `sorted` are.
inline long number_at(std::size_t i) { return static_cast<long>((i * 7919 + 13) % 1009); }
inline long sorted_at(std::size_t i) { return static_cast<long>(i / 3); }
/// Short ones are stored in the string itself; every other one is too long for that.
inline std::string string_of(long n) {
  return n % 2 == 0 ? std::to_string(n) : "a string that is too long for itself " + std::to_string(n);
}

/// With members of each kind that a projection may name.
struct record {
  long key = 0;
  std::string name;

  [[nodiscard]] long half() const { return key / 2; }
  [[nodiscard]] std::string const& named() const { return name; }
  auto operator<=>(record const&) const = default;
};
inline record record_of(long n) { return {.key = n, .name = string_of(n)}; }

/// The elements of a zip of two ranges, and, as a value, what they refer to.
struct zipped {
  long key = 0;
  std::string name;
  auto operator<=>(zipped const&) const = default;
};
struct zipped_reference {
  long& key;
  std::string& name;
  operator zipped() const { return {key, name}; }  // NOLINT(google-explicit-constructor): a proxy is its value
  friend auto operator<=>(zipped_reference const& a, zipped_reference const& b) {
    if (auto const keys = a.key <=> b.key; keys != 0) return keys;
    return a.name <=> b.name;
  }
  friend bool operator==(zipped_reference const& a, zipped_reference const& b) { return a.key == b.key && a.name == b.name; }
};
inline bool operator==(zipped_reference const& a, zipped const& b) { return a.key == b.key && a.name == b.name; }

/// Iterators of random access, written by hand: `Self` has at(place), the element there.
template <class Self, class Value, class Reference>
struct iterator_by_hand {
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using reference = Reference;

  std::ptrdiff_t place = 0;

  Reference operator*() const { return self().at(place); }
  Reference operator[](std::ptrdiff_t n) const { return self().at(place + n); }
  Self& operator+=(std::ptrdiff_t n) {
    place += n;
    return static_cast<Self&>(*this);
  }
  Self& operator-=(std::ptrdiff_t n) { return *this += -n; }
  Self& operator++() { return *this += 1; }
  Self& operator--() { return *this += -1; }
  Self operator++(int) { return *this += 1, self() - 1; }
  Self operator--(int) { return *this += -1, self() + 1; }
  friend Self operator+(Self it, std::ptrdiff_t n) { return it += n; }
  friend Self operator+(std::ptrdiff_t n, Self it) { return it += n; }
  friend Self operator-(Self it, std::ptrdiff_t n) { return it -= n; }
  friend std::ptrdiff_t operator-(Self const& a, Self const& b) { return a.place - b.place; }
  friend bool operator==(Self const& a, Self const& b) { return a.place == b.place; }
  friend auto operator<=>(Self const& a, Self const& b) { return a.place <=> b.place; }

 private:
  [[nodiscard]] Self const& self() const { return static_cast<Self const&>(*this); }
};

/// A zip: its reference is a prvalue of references.
struct zip_iterator : iterator_by_hand<zip_iterator, zipped, zipped_reference> {
  long* keys = nullptr;
  std::string* names = nullptr;
  [[nodiscard]] zipped_reference at(std::ptrdiff_t i) const { return {keys[i], names[i]}; }
};
/// As std::move_iterator from C++23 on: its reference is an rvalue.
template <class T>
struct moving_iterator : iterator_by_hand<moving_iterator<T>, T, T&&> {
  T* first = nullptr;
  [[nodiscard]] T&& at(std::ptrdiff_t i) const { return std::move(first[i]); }
};

/// A number for each value; equal values have equal ones. Used by predicates, bins and writes.
inline std::uint64_t weigh(std::uint64_t n) { return n * 0x9E37'79B9'7F4A'7C15 >> 7; }
template <std::integral T>
std::uint64_t weigh(T n) {
  return matrix::weigh(static_cast<std::uint64_t>(n));
}
inline std::uint64_t weigh(std::string const& s) {
  std::uint64_t sum = s.size();  // and the ends, since strings that are joined become long
  for (std::size_t i = s.size() - std::min<std::size_t>(s.size(), 5); i < s.size(); ++i) sum = sum * 31 + static_cast<unsigned char>(s[i]);
  return matrix::weigh(s.empty() ? sum : sum * 31 + static_cast<unsigned char>(s[0]));
}
inline std::uint64_t weigh(record const& r) { return matrix::weigh(r.key) + matrix::weigh(r.name); }
inline std::uint64_t weigh(zipped const& z) { return matrix::weigh(z.key) + matrix::weigh(z.name); }
inline std::uint64_t weigh(zipped_reference const& z) { return matrix::weigh(z.key) + matrix::weigh(z.name); }
inline std::uint64_t weigh(std::vector<bool>::reference b) { return matrix::weigh(static_cast<bool>(b)); }

/// The operation of reductions: associative, and for strings not commutative.
template <std::integral T>
T join(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a != b;
  } else {
    return static_cast<T>(std::uint64_t(a) + std::uint64_t(b));  // no sum of ints is too large
  }
}
inline std::string join(std::string a, std::string const& b) { return std::move(a += b); }
inline record join(record a, record const& b) { return {a.key + b.key, std::move(a.name += b.name)}; }
inline zipped join(zipped a, zipped const& b) { return {a.key + b.key, std::move(a.name += b.name)}; }

}  // namespace test::matrix

template <template <class> class A, template <class> class B>
struct std::basic_common_reference<test::matrix::zipped, test::matrix::zipped_reference, A, B> {
  using type = test::matrix::zipped;
};
template <template <class> class A, template <class> class B>
struct std::basic_common_reference<test::matrix::zipped_reference, test::matrix::zipped, A, B> {
  using type = test::matrix::zipped;
};
