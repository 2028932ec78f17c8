#include "subjects.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <ranges>
#include <vector>

#include <nopal/algorithm.hpp>

#include "calls.hpp"

namespace scale {

input::input(std::size_t n, std::uint64_t which) : v(n) {
  std::uint64_t x = which * 0xD1342543DE82EF95u;
  for (int& e : v) {
    x += 0x9e3779b97f4a7c15u;
    std::uint64_t mixed = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    e = static_cast<int>(mixed >> 34);
  }
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(n / 2);
  a.assign(v.begin(), middle);
  b.assign(middle, v.end());
  std::ranges::sort(a);
  std::ranges::sort(b);
}

output subject::before(const input& in) const {
  output out;
  switch (from) {
    case begins::as_input: out.v = in.v; break;
    case begins::as_halves:
      out.v = in.a;
      out.v.insert(out.v.end(), in.b.begin(), in.b.end());
      break;
    case begins::as_room: out.v.assign(in.v.size(), 0); break;
    case begins::as_little: break;
  }
  return out;
}

namespace {

double once(double) { return 2; }  // one to find out what it takes, and one
double tree(double n) { return n / 256 + std::log2(n) + 2; }
double scan(double n) { return 2 * n / 64 + std::log2(n) + 5; }
double merged(double n) { return std::log2(n) + 5; }
double merged_often(double n) {
  double all = 0;
  for (double m = 2; m <= n; m *= 2) all += std::log2(m) + (m <= 256 ? 4 : 4 + m / 64);
  return all;
}
double selected(double n) { return n > 8 ? 2 * std::log2(n / 8) * 6 + merged_often(8) : merged_often(n); }
double partitioned_often(double n) { return n > 32 ? 2 * std::log2(n / 32) * 6 + merged_often(32) : merged_often(n); }

template <bool D>
void add_loops(std::vector<subject>& to) {
  using enum subject::begins;
  to.push_back({"for_each", as_input, 1, once,
                [](const input&, output& o) { std::ranges::for_each(o.v, [](int& x) { x = value<D>{}(x); }); },
                [](const input&, output& o) { nopal::for_each(o.v, [](int& x) { x = value<D>{}(x); }); }});
  to.push_back({"transform", as_room, 1, once, [](const input& i, output& o) { std::ranges::transform(i.v, o.v.begin(), value<D>{}); },
                [](const input& i, output& o) { nopal::transform(i.v, o.v.begin(), value<D>{}); }});
  to.push_back({"transform_reduce", as_little, 1, once,
                [](const input& i, output& o) { o.number = std::transform_reduce(i.v.begin(), i.v.end(), 0L, std::plus<>{}, value<D>{}); },
                [](const input& i, output& o) { o.number = nopal::transform_reduce(i.v, 0L, std::plus<>{}, value<D>{}); }});
  to.push_back({"reduce", as_little, 1, tree,
                [](const input& i, output& o) { o.number = std::accumulate(i.v.begin(), i.v.end(), 0L, sum<long, D>{}); },
                [](const input& i, output& o) { o.number = nopal::reduce(i.v, 0L, sum<long, D>{}); }});
  to.push_back({"histogram", as_little, 1, once,
                [](const input& i, output& o) {
                  o.v.assign(64, 0);
                  for (const int x : i.v) ++o.v[static_cast<std::size_t>(value<D>{}(x) % 64)];
                },
                [](const input& i, output& o) {
                  for (const std::size_t in_bin : nopal::histogram(i.v, 64, [](int x) { return value<D>{}(x) % 64; }))
                    o.v.push_back(static_cast<int>(in_bin));
                }});
}

template <bool D>
void add_searches(std::vector<subject>& to) {
  using enum subject::begins;
  to.push_back({"count_if", as_little, 1, once, [](const input& i, output& o) { o.number = std::ranges::count_if(i.v, is_odd<D>{}); },
                [](const input& i, output& o) { o.number = nopal::count_if(i.v, is_odd<D>{}); }});
  to.push_back({"find_if", as_little, 1, once,
                [](const input& i, output& o) { o.number = std::ranges::find_if(i.v, is_nothing<D>{}) - i.v.begin(); },
                [](const input& i, output& o) { o.number = nopal::find_if(i.v, is_nothing<D>{}) - i.v.begin(); }});
  to.push_back({"max_element", as_little, 1, once,
                [](const input& i, output& o) { o.number = std::ranges::max_element(i.v, {}, value<D>{}) - i.v.begin(); },
                [](const input& i, output& o) { o.number = nopal::max_element(i.v, {}, value<D>{}) - i.v.begin(); }});
  to.push_back({"min_element by a comparator", as_little, 1, tree,
                [](const input& i, output& o) { o.number = std::ranges::min_element(i.v, less<D>{}) - i.v.begin(); },
                [](const input& i, output& o) { o.number = nopal::min_element(i.v, less<D>{}) - i.v.begin(); }});
  to.push_back({"equal", as_input, 1, once, [](const input& i, output& o) { o.number = std::ranges::equal(i.v, o.v, equals<D>{}); },
                [](const input& i, output& o) { o.number = nopal::equal(i.v, o.v, equals<D>{}); }});
  to.push_back({"mismatch", as_input, 1, once,
                [](const input& i, output& o) { o.number = std::ranges::mismatch(i.v, o.v, equals<D>{}).in1 - i.v.begin(); },
                [](const input& i, output& o) { o.number = nopal::mismatch(i.v, o.v, equals<D>{}).in1 - i.v.begin(); }});
  to.push_back({"is_sorted", as_little, 1, once, [](const input& i, output& o) { o.number = std::ranges::is_sorted(i.a, less<D>{}); },
                [](const input& i, output& o) { o.number = nopal::is_sorted(i.a, less<D>{}); }});
  to.push_back({"adjacent_find", as_little, 1, once,
                [](const input& i, output& o) { o.number = std::ranges::adjacent_find(i.v, equals<D>{}) - i.v.begin(); },
                [](const input& i, output& o) { o.number = nopal::adjacent_find(i.v, equals<D>{}) - i.v.begin(); }});
  to.push_back(
      {"search", as_little, 1, once,
       [](const input& i, output& o) { o.number = std::ranges::search(i.v, std::views::single(-1), equals<D>{}).begin() - i.v.begin(); },
       [](const input& i, output& o) { o.number = nopal::search(i.v, std::views::single(-1), equals<D>{}).begin() - i.v.begin(); }});
}

template <bool D>
void add_selections(std::vector<subject>& to) {
  using enum subject::begins;
  to.push_back({"copy_if", as_room, 1, once,
                [](const input& i, output& o) { o.number = std::ranges::copy_if(i.v, o.v.begin(), is_odd<D>{}).out - o.v.begin(); },
                [](const input& i, output& o) { o.number = nopal::copy_if(i.v, o.v.begin(), is_odd<D>{}).out - o.v.begin(); }});
  to.push_back({"remove_if", as_input, 1, once,
                [](const input&, output& o) { o.v.erase(std::ranges::remove_if(o.v, is_odd<D>{}).begin(), o.v.end()); },
                [](const input&, output& o) { o.v.erase(nopal::remove_if(o.v, is_odd<D>{}).begin(), o.v.end()); }});
  to.push_back({"unique", as_input, 1, once,
                [](const input&, output& o) { o.v.erase(std::ranges::unique(o.v, alike<D>{}).begin(), o.v.end()); },
                [](const input&, output& o) { o.v.erase(nopal::unique(o.v, alike<D>{}).begin(), o.v.end()); }});
  to.push_back({"partition", as_input, 1, once,
                [](const input&, output& o) { o.number = std::ranges::partition(o.v, is_odd<D>{}).begin() - o.v.begin(); },
                [](const input&, output& o) { o.number = nopal::partition(o.v, is_odd<D>{}).begin() - o.v.begin(); },
                [](output& o) {
                  if (!std::ranges::is_partitioned(o.v, [](int x) { return x % 2 == 1; })) o.number = -1;
                  o.v.clear();
                }});
  to.push_back({"stable_partition", as_input, 1, once,
                [](const input&, output& o) { o.number = std::ranges::stable_partition(o.v, is_odd<D>{}).begin() - o.v.begin(); },
                [](const input&, output& o) { o.number = nopal::stable_partition(o.v, is_odd<D>{}).begin() - o.v.begin(); }});
  to.push_back({"replace_if", as_input, 1, once, [](const input&, output& o) { std::ranges::replace_if(o.v, is_odd<D>{}, 7); },
                [](const input&, output& o) { nopal::replace_if(o.v, is_odd<D>{}, 7); }});
}

template <bool D>
void add_scans(std::vector<subject>& to) {
  using enum subject::begins;
  to.push_back({"inclusive_scan", as_room, 2, scan,
                [](const input& i, output& o) { std::inclusive_scan(i.v.begin(), i.v.end(), o.v.begin(), sum<int, D>{}); },
                [](const input& i, output& o) { nopal::inclusive_scan(i.v, o.v.begin(), sum<int, D>{}); }});
  to.push_back({"exclusive_scan", as_room, 2, scan,
                [](const input& i, output& o) { std::exclusive_scan(i.v.begin(), i.v.end(), o.v.begin(), 7, sum<int, D>{}); },
                [](const input& i, output& o) { nopal::exclusive_scan(i.v, o.v.begin(), 7, sum<int, D>{}); }});
}

template <bool D>
void add_differences(std::vector<subject>& to) {
  using enum subject::begins;
  to.push_back(
      {"transform_inclusive_scan", as_room, 1, once,
       [](const input& i, output& o) { std::transform_inclusive_scan(i.v.begin(), i.v.end(), o.v.begin(), std::bit_xor<>{}, value<D>{}); },
       [](const input& i, output& o) { nopal::transform_inclusive_scan(i.v, o.v.begin(), std::bit_xor<>{}, value<D>{}); }});
  to.push_back({"adjacent_difference", as_room, 1, once,
                [](const input& i, output& o) { std::adjacent_difference(i.v.begin(), i.v.end(), o.v.begin(), sum<int, D>{}); },
                [](const input& i, output& o) { nopal::adjacent_difference(i.v, o.v.begin(), sum<int, D>{}); }});
}

// Algorithms that only move elements.
void add_moves(std::vector<subject>& to) {
  using enum subject::begins;
  to.push_back({"fill", as_room, 1, once, [](const input&, output& o) { std::ranges::fill(o.v, 7); },
                [](const input&, output& o) { nopal::fill(o.v, 7); }});
  to.push_back({"copy", as_room, 1, once, [](const input& i, output& o) { std::ranges::copy(i.v, o.v.begin()); },
                [](const input& i, output& o) { nopal::copy(i.v, o.v.begin()); }});
  to.push_back({"reverse", as_input, 1, once, [](const input&, output& o) { std::ranges::reverse(o.v); },
                [](const input&, output& o) { nopal::reverse(o.v); }});
  to.push_back({"rotate", as_input, 1, once,
                [](const input&, output& o) { std::ranges::rotate(o.v, o.v.begin() + static_cast<std::ptrdiff_t>(o.v.size() / 3)); },
                [](const input&, output& o) { nopal::rotate(o.v, o.v.begin() + static_cast<std::ptrdiff_t>(o.v.size() / 3)); }});
}

auto middle(output& o) { return o.v.begin() + static_cast<std::ptrdiff_t>(o.v.size() / 2); }

template <bool D>
void add_orders(std::vector<subject>& to) {
  using enum subject::begins;
  to.push_back({"sort", as_input, 1, partitioned_often, [](const input&, output& o) { std::ranges::sort(o.v, less<D>{}); },
                [](const input&, output& o) { nopal::sort(o.v, less<D>{}); }});
  to.push_back({"stable_sort", as_input, 1, merged_often, [](const input&, output& o) { std::ranges::stable_sort(o.v, less<D>{}); },
                [](const input&, output& o) { nopal::stable_sort(o.v, less<D>{}); }});
  to.push_back({"merge", as_room, 1, merged, [](const input& i, output& o) { std::ranges::merge(i.a, i.b, o.v.begin(), less<D>{}); },
                [](const input& i, output& o) { nopal::merge(i.a, i.b, o.v.begin(), less<D>{}); }});
  to.push_back({"nth_element", as_input, 1, selected, [](const input&, output& o) { std::ranges::nth_element(o.v, middle(o), less<D>{}); },
                [](const input&, output& o) { nopal::nth_element(o.v, middle(o), less<D>{}); },
                [](output& o) {
                  o.number = *middle(o);
                  o.v.clear();
                }});
}

template <bool D>
void add_sets(std::vector<subject>& to) {
  using enum subject::begins;
  to.push_back({"set_union", as_room, 1, merged,
                [](const input& i, output& o) { o.number = std::ranges::set_union(i.a, i.b, o.v.begin(), less<D>{}).out - o.v.begin(); },
                [](const input& i, output& o) { o.number = nopal::set_union(i.a, i.b, o.v.begin(), less<D>{}).out - o.v.begin(); }});
  to.push_back(
      {"set_intersection", as_room, 1, merged,
       [](const input& i, output& o) { o.number = std::ranges::set_intersection(i.a, i.b, o.v.begin(), less<D>{}).out - o.v.begin(); },
       [](const input& i, output& o) { o.number = nopal::set_intersection(i.a, i.b, o.v.begin(), less<D>{}).out - o.v.begin(); }});
  to.push_back({"includes", as_little, 1, merged, [](const input& i, output& o) { o.number = std::ranges::includes(i.a, i.a, less<D>{}); },
                [](const input& i, output& o) { o.number = nopal::includes(i.a, i.a, less<D>{}); }});
  to.push_back(
      {"inplace_merge", as_halves, 1, merged,
       [](const input& i, output& o) { std::ranges::inplace_merge(o.v, o.v.begin() + static_cast<std::ptrdiff_t>(i.a.size()), less<D>{}); },
       [](const input& i, output& o) { nopal::inplace_merge(o.v, o.v.begin() + static_cast<std::ptrdiff_t>(i.a.size()), less<D>{}); }});
  to.push_back({"partial_sort", as_input, 1, partitioned_often,
                [](const input&, output& o) {
                  const auto middle = o.v.begin() + static_cast<std::ptrdiff_t>(o.v.size() / 4);
                  std::ranges::partial_sort(o.v, middle, less<D>{});
                  o.v.erase(middle, o.v.end());
                },
                [](const input&, output& o) {
                  const auto middle = o.v.begin() + static_cast<std::ptrdiff_t>(o.v.size() / 4);
                  nopal::partial_sort(o.v, middle, less<D>{});
                  o.v.erase(middle, o.v.end());
                }});
}

template <bool D>
std::vector<subject> all() {
  std::vector<subject> made;
  add_loops<D>(made);
  add_searches<D>(made);
  add_selections<D>(made);
  add_scans<D>(made);
  add_differences<D>(made);
  add_orders<D>(made);
  add_sets<D>(made);
  if constexpr (!D) add_moves(made);
  return made;
}

}  // namespace

std::vector<subject> subjects(bool dear) { return dear ? all<true>() : all<false>(); }

}  // namespace scale
