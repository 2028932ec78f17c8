#pragma once

// std::execution::par and par_unseq on nopal: the back end of libstdc++'s parallel algorithms. To be included before all headers of the
// standard library: CMake's target nopal::pstl does that by -include. docs/pstl.md. Next: pstl/engine.hpp, how the algorithms run.

#if defined(_PSTL_EXECUTION_POLICY_DEFS_H) || defined(_PSTL_GLUE_ALGORITHM_DEFS_H) || defined(_PSTL_GLUE_NUMERIC_DEFS_H) || \
    defined(_PSTL_GLUE_MEMORY_DEFS_H) || defined(_PSTL_PARALLEL_BACKEND_H)
#error \
    "nopal: <nopal/pstl.hpp> must come before <algorithm>, <numeric>, <memory> and <execution>. Include it first in each source, link nopal::pstl in CMake, or compile with -include nopal/pstl.hpp."
#endif

#include <version>
#if !defined(__GLIBCXX__)
#error \
    "nopal: <nopal/pstl.hpp> is for libstdc++, the library of GCC. The library here lets nobody choose what its parallel algorithms run on: call nopal's own, as nopal::sort and nopal::for_each, of <nopal/algorithm.hpp>."
#elif _GLIBCXX_RELEASE < 12
#error "nopal: <nopal/pstl.hpp> is for libstdc++ 12 and newer. The one here is older: use the library of GCC 12, 13 or 14."
#elif __cplusplus < 202002L
#error "nopal: <nopal/pstl.hpp> needs C++20: compile with -std=c++20."
#endif

// What is compiled for nopal has names of its own, in the library's parallel algorithms and in the policies: so in one program other
// sources may run on another back end, and the linker takes no function of theirs for one of these.
#define __pstl __pstl_on_nopal
// In the place of the library's choice.
#define _PSTL_PARALLEL_BACKEND_H

#include <cstddef>
#include <type_traits>
#include <utility>

#include "nopal/pstl/engine.hpp"

namespace __pstl {
namespace __par_backend {

template <class T>
using __buffer = nopal::core::pstl::buffer<T>;

/// Says that parts which have not begun are not needed. They ask before they do anything, so nothing is to be done.
inline void __cancel_execution() noexcept {}

template <class Policy, class Index, class Body>
void __parallel_for(Policy&&, Index first, Index last, Body body) {
  nopal::core::pstl::loop(first, last, body);
}

template <class Policy, class Value, class Index, class Body, class Join>
Value __parallel_reduce(Policy&&, Index first, Index last, const Value& identity, const Body& body, const Join& join) {
  return nopal::core::pstl::reduce(first, last, identity, body, join);
}

template <class Policy, class Index, class Make, class T, class Join, class More>
T __parallel_transform_reduce(Policy&&, Index first, Index last, Make make, T init, Join join, More more) {
  return nopal::core::pstl::transform_reduce(first, last, make, std::move(init), join, more);
}

template <class Policy, class Index, class Make, class T, class Join, class More, class Scan>
T __parallel_transform_scan(Policy&&, Index n, Make make, T init, Join join, More more, Scan scan) {
  return nopal::core::pstl::transform_scan(n, make, std::move(init), join, more, scan);
}

template <class Policy, class Index, class T, class Reduce, class Join, class Scan, class Apex>
void __parallel_strict_scan(Policy&&, Index n, T init, Reduce reduce, Join join, Scan scan, Apex apex) {
  nopal::core::pstl::strict_scan(n, std::move(init), reduce, join, scan, apex);
}

template <class Policy, class I, class Comp, class Leaf>
void __parallel_stable_sort(Policy&&, I first, I last, Comp comp, Leaf leaf, std::size_t sorted = 0) {
  nopal::core::pstl::sort(first, last, comp, leaf, sorted);
}

template <class Policy, class I1, class I2, class O, class Comp, class Leaf>
void __parallel_merge(Policy&&, I1 first1, I1 last1, I2 first2, I2 last2, O out, Comp comp, Leaf leaf) {
  nopal::core::pstl::merge(first1, last1, first2, last2, out, comp, leaf);
}

template <class Policy, class F, class G>
void __parallel_invoke(Policy&&, F&& f, G&& g) {
  nopal::core::pstl::both(f, g);
}

}  // namespace __par_backend

namespace __internal {

/// The library's std::sort is its std::stable_sort. Where this fits its call, which has the same parameters but no constraint, this is taken.
template <class Policy, class I, class Comp, class IsVector>
  requires nopal::core::algorithms::parallel_iterator<I>
void __pattern_sort(Policy&&, I first, I last, Comp comp, IsVector, std::true_type, std::true_type) {
  nopal::core::pstl::sort_unstably(first, last, comp);
}

}  // namespace __internal
}  // namespace __pstl
