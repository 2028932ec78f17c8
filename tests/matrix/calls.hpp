#pragma once

// The functions that the algorithms of the matrix call with elements.

#include <cstdint>
#include <utility>

#include "values.hpp"

namespace test::matrix {

struct weighed {
  template <class T>
  std::uint64_t operator()(T const& x) const {
    return matrix::weigh(x);
  }
};
struct third {
  template <class T>
  bool operator()(T const& x) const {
    return matrix::weigh(x) % 3 == 1;
  }
};
struct rare {
  template <class T>
  bool operator()(T const& x) const {
    return matrix::weigh(x) % 2003 == 7;
  }
};
struct bin {
  template <class T>
  unsigned operator()(T const& x) const {
    return static_cast<unsigned>(matrix::weigh(x) % 10);
  }
};
/// Both operands, as values.
template <class T>
struct joined {
  T operator()(T a, T b) const { return matrix::join(std::move(a), std::move(b)); }
};
/// The first of the heaviest: associative, not commutative, and no longer than its operands, as scans need it.
template <class T>
struct leading {
  T operator()(T a, T b) const { return matrix::weigh(b) % 64 > matrix::weigh(a) % 64 ? b : a; }
};
/// The same, returning a reference to an operand.
template <class T>
struct leading_reference {
  T const& operator()(T const& a, T const& b) const { return matrix::weigh(b) % 64 > matrix::weigh(a) % 64 ? b : a; }
};
/// The heavier of two elements, by reference, also to temporaries.
struct heavier {
  template <class A>
  A const& operator()(A const& a, A const& b) const {
    return matrix::weigh(b) > matrix::weigh(a) ? b : a;
  }
};
/// Less, or, for ranges that are not sorted, nothing is less.
struct less_where_sorted {
  bool sorted;
  template <class A, class B>
  bool operator()(A const& a, B const& b) const {
    return sorted && matrix::weigh(a) != matrix::weigh(b) && a < b;
  }
};
struct lighter {
  template <class A, class B>
  bool operator()(A const& a, B const& b) const {
    return matrix::weigh(a) < matrix::weigh(b);
  }
};

}  // namespace test::matrix
