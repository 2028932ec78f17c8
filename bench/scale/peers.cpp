#include "peers.hpp"

#include <algorithm>
#include <cstddef>
#include <execution>
#include <functional>
#include <numeric>
#include <ranges>
#include <utility>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/parallel_sort.h>

#include "calls.hpp"

namespace scale {
namespace {

using range = oneapi::tbb::blocked_range<std::size_t>;
constexpr auto par = std::execution::par;

// The standard library takes no projections here: so elements are compared by them, as often as it compares.
bool less_by_value(int x, int y) { return value<true>{}(x) < value<true>{}(y); }

template <bool Inclusive>
void scan(const input& in, output& out, int init) {
  oneapi::tbb::parallel_scan(
      range{0, in.v.size()}, std::pair{0, false},
      [&](const range& part, std::pair<int, bool> before, bool is_final) {
        for (std::size_t i = part.begin(); i != part.end(); ++i) {
          if (!Inclusive && is_final) out.v[i] = i == 0 ? init : before.first;
          const int x = !Inclusive && i == 0 ? sum<int, true>{}(init, in.v[0]) : in.v[i];
          before = {before.second ? sum<int, true>{}(before.first, x) : x, true};
          if (Inclusive && is_final) out.v[i] = before.first;
        }
        return before;
      },
      [](std::pair<int, bool> left, std::pair<int, bool> right) {
        if (!left.second) return right;
        if (!right.second) return left;
        return std::pair{sum<int, true>{}(left.first, right.first), true};
      });
}

}  // namespace

std::map<std::string, subject::way> parallel_mode() {
  return {
      {"for_each", [](const input&, output& o) { std::for_each(par, o.v.begin(), o.v.end(), [](int& x) { x = value<true>{}(x); }); }},
      {"transform", [](const input& i, output& o) { std::transform(par, i.v.begin(), i.v.end(), o.v.begin(), value<true>{}); }},
      {"transform_reduce",
       [](const input& i, output& o) { o.number = std::transform_reduce(par, i.v.begin(), i.v.end(), 0L, std::plus<>{}, value<true>{}); }},
      {"reduce", [](const input& i, output& o) { o.number = std::reduce(par, i.v.begin(), i.v.end(), 0L, sum<long, true>{}); }},
      {"count_if", [](const input& i, output& o) { o.number = std::count_if(par, i.v.begin(), i.v.end(), is_odd<true>{}); }},
      {"find_if",
       [](const input& i, output& o) { o.number = std::find_if(par, i.v.begin(), i.v.end(), is_nothing<true>{}) - i.v.begin(); }},
      {"max_element",
       [](const input& i, output& o) { o.number = std::max_element(par, i.v.begin(), i.v.end(), less_by_value) - i.v.begin(); }},
      {"min_element by a comparator",
       [](const input& i, output& o) { o.number = std::min_element(par, i.v.begin(), i.v.end(), less<true>{}) - i.v.begin(); }},
      {"equal", [](const input& i, output& o) { o.number = std::equal(par, i.v.begin(), i.v.end(), o.v.begin(), equals<true>{}); }},
      {"mismatch",
       [](const input& i, output& o) {
         o.number = std::mismatch(par, i.v.begin(), i.v.end(), o.v.begin(), equals<true>{}).first - i.v.begin();
       }},
      {"is_sorted", [](const input& i, output& o) { o.number = std::is_sorted(par, i.a.begin(), i.a.end(), less<true>{}); }},
      {"adjacent_find",
       [](const input& i, output& o) { o.number = std::adjacent_find(par, i.v.begin(), i.v.end(), equals<true>{}) - i.v.begin(); }},
      {"stable_partition",
       [](const input&, output& o) { o.number = std::stable_partition(par, o.v.begin(), o.v.end(), is_odd<true>{}) - o.v.begin(); }},
      {"replace_if", [](const input&, output& o) { std::replace_if(par, o.v.begin(), o.v.end(), is_odd<true>{}, 7); }},
      {"transform_inclusive_scan",
       [](const input& i, output& o) {
         std::transform_inclusive_scan(par, i.v.begin(), i.v.end(), o.v.begin(), std::bit_xor<>{}, value<true>{});
       }},
      {"adjacent_difference",
       [](const input& i, output& o) { std::adjacent_difference(par, i.v.begin(), i.v.end(), o.v.begin(), sum<int, true>{}); }},
      {"set_union",
       [](const input& i, output& o) {
         o.number = std::set_union(par, i.a.begin(), i.a.end(), i.b.begin(), i.b.end(), o.v.begin(), less<true>{}) - o.v.begin();
       }},
      {"set_intersection",
       [](const input& i, output& o) {
         o.number = std::set_intersection(par, i.a.begin(), i.a.end(), i.b.begin(), i.b.end(), o.v.begin(), less<true>{}) - o.v.begin();
       }},
      {"includes",
       [](const input& i, output& o) { o.number = std::includes(par, i.a.begin(), i.a.end(), i.a.begin(), i.a.end(), less<true>{}); }},
      {"inplace_merge",
       [](const input& i, output& o) {
         std::inplace_merge(par, o.v.begin(), o.v.begin() + static_cast<std::ptrdiff_t>(i.a.size()), o.v.end(), less<true>{});
       }},
      {"partial_sort",
       [](const input&, output& o) {
         const auto middle = o.v.begin() + static_cast<std::ptrdiff_t>(o.v.size() / 4);
         std::partial_sort(par, o.v.begin(), middle, o.v.end(), less<true>{});
         o.v.erase(middle, o.v.end());
       }},
      {"copy_if",
       [](const input& i, output& o) { o.number = std::copy_if(par, i.v.begin(), i.v.end(), o.v.begin(), is_odd<true>{}) - o.v.begin(); }},
      {"remove_if", [](const input&, output& o) { o.v.erase(std::remove_if(par, o.v.begin(), o.v.end(), is_odd<true>{}), o.v.end()); }},
      {"unique", [](const input&, output& o) { o.v.erase(std::unique(par, o.v.begin(), o.v.end(), alike<true>{}), o.v.end()); }},
      {"partition", [](const input&, output& o) { o.number = std::partition(par, o.v.begin(), o.v.end(), is_odd<true>{}) - o.v.begin(); }},
      {"inclusive_scan",
       [](const input& i, output& o) { std::inclusive_scan(par, i.v.begin(), i.v.end(), o.v.begin(), sum<int, true>{}); }},
      {"exclusive_scan",
       [](const input& i, output& o) { std::exclusive_scan(par, i.v.begin(), i.v.end(), o.v.begin(), 7, sum<int, true>{}); }},
      {"sort", [](const input&, output& o) { std::sort(par, o.v.begin(), o.v.end(), less<true>{}); }},
      {"stable_sort", [](const input&, output& o) { std::stable_sort(par, o.v.begin(), o.v.end(), less<true>{}); }},
      {"merge",
       [](const input& i, output& o) { std::merge(par, i.a.begin(), i.a.end(), i.b.begin(), i.b.end(), o.v.begin(), less<true>{}); }},
      {"nth_element",
       [](const input&, output& o) {
         const auto nth = o.v.begin() + static_cast<std::ptrdiff_t>(o.v.size() / 2);
         std::nth_element(par, o.v.begin(), nth, o.v.end(), less<true>{});
       }},
  };
}

std::map<std::string, subject::way> tbb() {
  return {
      {"for_each",
       [](const input&, output& o) {
         oneapi::tbb::parallel_for(std::size_t{0}, o.v.size(), [&](std::size_t i) { o.v[i] = value<true>{}(o.v[i]); });
       }},
      {"transform",
       [](const input& i, output& o) {
         oneapi::tbb::parallel_for(std::size_t{0}, i.v.size(), [&](std::size_t k) { o.v[k] = value<true>{}(i.v[k]); });
       }},
      {"transform_reduce",
       [](const input& i, output& o) {
         o.number = oneapi::tbb::parallel_reduce(
             range{0, i.v.size()}, 0L,
             [&](const range& part, long so_far) {
               for (std::size_t k = part.begin(); k != part.end(); ++k) so_far += value<true>{}(i.v[k]);
               return so_far;
             },
             std::plus<>{});
       }},
      {"reduce",
       [](const input& i, output& o) {
         o.number = oneapi::tbb::parallel_reduce(
             range{0, i.v.size()}, 0L,
             [&](const range& part, long so_far) {
               for (std::size_t k = part.begin(); k != part.end(); ++k) so_far = sum<long, true>{}(so_far, i.v[k]);
               return so_far;
             },
             sum<long, true>{});
       }},
      {"inclusive_scan", [](const input& i, output& o) { scan<true>(i, o, 0); }},
      {"exclusive_scan", [](const input& i, output& o) { scan<false>(i, o, 7); }},
      {"sort", [](const input&, output& o) { oneapi::tbb::parallel_sort(o.v.begin(), o.v.end(), less<true>{}); }},
  };
}

}  // namespace scale
