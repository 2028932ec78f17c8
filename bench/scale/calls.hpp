#pragma once

// The functions that algorithms get: functions of elements that each take as long as an element takes, or next to nothing.

#include <cstdint>
#include <functional>
#include <type_traits>

#include "element.hpp"

namespace scale {

template <bool Dear>
struct cost {
  static void pay() {
    if constexpr (Dear) element::work();
  }
};

template <bool Dear>
struct value : cost<Dear> {
  int operator()(int x) const {
    this->pay();
    return x ^ 1;
  }
};
template <bool Dear>
struct is_odd : cost<Dear> {
  bool operator()(int x) const {
    this->pay();
    return x % 2 == 1;
  }
};
template <bool Dear>
struct is_nothing : cost<Dear> {
  bool operator()(int x) const {
    this->pay();
    return x < 0;
  }
};
template <bool Dear>
struct less : cost<Dear> {
  bool operator()(int x, int y) const {
    this->pay();
    return x < y;
  }
};
template <bool Dear>
struct alike : cost<Dear> {
  bool operator()(int x, int y) const {
    this->pay();
    return x / 4 == y / 4;
  }
};
template <bool Dear>
struct equals : cost<Dear> {
  bool operator()(int x, int y) const {
    this->pay();
    return x == y;
  }
};
template <class T>
struct dear_sum : cost<true> {
  T operator()(T x, T y) const {
    pay();
    return x ^ y;
  }
};
template <class T, bool Dear>
using sum = std::conditional_t<Dear, dear_sum<T>, std::bit_xor<T>>;

}  // namespace scale
