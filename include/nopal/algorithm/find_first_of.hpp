#pragma once

// nopal::find_first_of: as std::ranges::find_first_of, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/find_first.hpp"
#include "nopal/algorithm/internal/find_pair.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// Is the element at a place equal to one of a few, where nobody takes notice of comparisons?
template <class I1, class I2>
struct equals_one_of {
  I1 first1;
  I2 first2;
  std::size_t n2;

  bool operator()(std::size_t i) const {
    bool any = false;
    for (std::size_t j = 0; j != n2; ++j) any |= *algorithms::ahead(first1, i) == *algorithms::ahead(first2, j);
    return any;
  }
  template <std::size_t Places>
  bool any(std::size_t from) const {
    const I1 begin = algorithms::ahead(first1, from);
    for (std::size_t j = 0; j != n2; ++j) {
      const auto one = *algorithms::ahead(first2, j);
      unsigned any = 0;
      for (std::size_t i = 0; i != Places; ++i) any |= *algorithms::ahead(begin, i) == one ? 1U : 0U;
      if (any != 0) return true;
    }
    return false;
  }
};
/// More are compared one by one: then the first place would have to wait for all of a row.
inline constexpr std::size_t few_looked_for = 32;

struct find_first_of_function : refuses_lists, refuses_second {
  using refuses_lists::operator();
  using refuses_second::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            class Pred = std::ranges::equal_to, class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_comparable<I1, I2, Pred, Proj1, Proj2>
  I1 operator()(I1 first1, S1 last1, I2 first2, S2 last2, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    const std::size_t n2 = algorithms::length(first2, last2);
    const auto same = [&](const I1& it1, const I2& it2) {
      return static_cast<bool>(std::invoke(pred, std::invoke(proj1, *it1), std::invoke(proj2, *it2)));
    };
    if (n2 == 0) {
      if constexpr (never_reached<S1>) {
        return algorithms::ahead(first1, algorithms::search_endless(0, [](std::size_t) { return false; }).place);  // throws, at once
      } else {
        return algorithms::end_of(first1, last1);
      }
    }
    if constexpr (equals_plainly<Pred> && compares_in_rows<Pred, Proj1, Proj2, I1, I2>) {
      if (n2 <= few_looked_for) {
        const auto holds = algorithms::look_in_rows<true>(equals_one_of<I1, I2>{first1, first2, n2});
        return algorithms::ahead(first1, algorithms::search(first1, last1, holds).place);
      }
    }
    const search_result hit = algorithms::search_rows(first1, last1, n2, same_at<I1, I2, decltype(same)>{first1, first2, n2, same});
    return algorithms::ahead(first1, hit.place / n2);
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, class Pred = std::ranges::equal_to,
            class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_comparable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Pred, Proj1, Proj2>
  std::ranges::borrowed_iterator_t<R1> operator()(R1&& range1, R2&& range2, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    return (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2),
                   std::move(pred), std::move(proj1), std::move(proj2));
  }
};

}  // namespace core::algorithms

/// find_first_of(first1, last1, first2, last2, pred = equal_to, proj1 = identity, proj2 = identity), find_first_of(range1, range2, pred, proj1, proj2):
/// the first element of the first range for which pred holds with any of the second, or the end, as std::ranges::find_first_of. The predicate and
/// the projections are called by several threads at once, and for some pairs behind the one that is found; what they throw there is dropped,
/// else thrown. Off a pool also throws what default_pool() throws. O(n * m) work at most, O(log n + log m) span. The first range may have no
/// end: see find_if.
inline constexpr core::algorithms::find_first_of_function find_first_of{};

}  // namespace nopal
