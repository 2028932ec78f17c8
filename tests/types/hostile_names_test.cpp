// Values in a namespace that has a function of every name that the library calls, for any arguments and deleted. So a call by the library
// without its namespace does not compile: by argument-dependent lookup it would call a user's function of that name.

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <ranges>
#include <utility>
#include <vector>

#include "nopal/nopal.hpp"

namespace names {

struct with_names {
  long n;
  explicit with_names(long number) : n{number} {}
  with_names(with_names&& o) noexcept : n{std::exchange(o.n, -1)} {}
  with_names(with_names const&) = default;
  with_names& operator=(with_names&& o) noexcept {
    n = std::exchange(o.n, -1);
    return *this;
  }
  with_names& operator=(with_names const&) = default;
  ~with_names() = default;
  friend auto operator<=>(with_names const&, with_names const&) = default;
};
struct adds_names {
  with_names operator()(with_names const& a, with_names const& b) const { return with_names{a.n + b.n}; }
};
struct third_of_names {
  bool operator()(with_names const& x) const { return x.n % 3 == 0; }
};
struct makes_four {
  with_names operator()() const { return with_names{4}; }
};
struct third_of_two {
  bool operator()() const { return false; }
};
struct does_nothing {
  void operator()(int) const {}
  void operator()(int, int) const {}
};

#include "every_name.hpp"

}  // namespace names

namespace {

using names::with_names;

std::vector<with_names> values(std::size_t n) {
  std::vector<with_names> v;
  for (std::size_t i = 0; i < n; ++i) v.emplace_back(static_cast<long>(i * 7919 % 1009));
  return v;
}
std::vector<with_names> sorted(std::size_t n) {
  auto v = values(n);
  std::ranges::sort(v);
  return v;
}
constexpr std::size_t sizes[] = {0, 1, 5, 40, 3000};

TEST(names_of_users, are_not_called_by_sorts) {
  for (std::size_t const n : sizes) {
    auto const expected = sorted(n);
    auto v = values(n);
    nopal::sort(v);
    EXPECT_EQ(v, expected);
    v = values(n);
    nopal::stable_sort(v);
    EXPECT_EQ(v, expected);
    v = values(n);
    std::deque<with_names> d(v.begin(), v.end());
    nopal::sort(d, std::less<>{}, &with_names::n);
    EXPECT_TRUE(std::ranges::equal(d, expected));
    d.assign(v.begin(), v.end());
    nopal::stable_sort(d);
    EXPECT_TRUE(std::ranges::equal(d, expected));
    if (n > 0) {
      nopal::nth_element(v, v.begin() + 2 * static_cast<std::ptrdiff_t>(n) / 3);
      EXPECT_EQ(v[2 * n / 3], expected[2 * n / 3]);
    }
    auto const others = nopal::partition(v, names::third_of_names{});
    EXPECT_TRUE(std::none_of(others.begin(), others.end(), names::third_of_names{}));
    v = sorted(n);
    v.erase(nopal::remove_if(v, names::third_of_names{}).begin(), v.end());
    EXPECT_TRUE(std::ranges::none_of(v, names::third_of_names{}));
    v.erase(nopal::unique(v).begin(), v.end());
    EXPECT_EQ(std::ranges::adjacent_find(v), v.end());
  }
}

// As where the first call has taken long.
TEST(names_of_users, are_not_called_by_sorts_that_ask_first) {
  nopal::pool pool{{.workers = 2}};
  for (std::size_t const n : sizes) {
    auto v = values(n);
    auto others = v.begin();
    pool.run([&] { others = nopal::core::algorithms::partition_slowly(v.begin(), v.end(), names::third_of_names{}); });
    EXPECT_EQ(others - v.begin(), std::ranges::count_if(values(n), names::third_of_names{}));
    EXPECT_TRUE(std::all_of(v.begin(), others, names::third_of_names{}));
    v = values(n);
    pool.run([&] { nopal::core::algorithms::quick_sort<decltype(others), std::ranges::less>{{}, true}.sort(v.begin(), n); });
    EXPECT_EQ(v, sorted(n));
  }
}

TEST(names_of_users, are_not_called_by_what_reads) {
  for (std::size_t const n : sizes) {
    auto const v = values(n);
    auto out = v;
    EXPECT_EQ(nopal::count_if(v, names::third_of_names{}), std::ranges::count_if(v, names::third_of_names{}));
    EXPECT_EQ(nopal::count(v, with_names{3}), std::ranges::count(v, with_names{3}));
    EXPECT_EQ(nopal::find(v, with_names{3}), std::ranges::find(v, with_names{3}));
    EXPECT_EQ(nopal::find_if(v, names::third_of_names{}), std::ranges::find_if(v, names::third_of_names{}));
    EXPECT_EQ(nopal::any_of(v, names::third_of_names{}), !nopal::none_of(v, names::third_of_names{}));
    EXPECT_EQ(nopal::all_of(v, names::third_of_names{}), std::ranges::all_of(v, names::third_of_names{}));
    EXPECT_EQ(nopal::min_element(v), std::ranges::min_element(v));
    EXPECT_EQ(nopal::max_element(v),
              nopal::minmax_element(v, std::less<>{}, &with_names::n).max == v.end() ? v.end() : std::ranges::max_element(v));
    EXPECT_EQ(nopal::copy_if(v, out.begin(), names::third_of_names{}).out - out.begin(), std::ranges::count_if(v, names::third_of_names{}));
    nopal::transform(v, out.begin(), [](with_names const& x) { return x; });
    EXPECT_EQ(out, v);
    nopal::transform(v, v, out.begin(), names::adds_names{});
    long all = 0;
    for (auto const& x : v) all += x.n;
    EXPECT_EQ(nopal::reduce(v, with_names{0}, names::adds_names{}).n, all);
    EXPECT_EQ(nopal::transform_reduce(v, with_names{0}, names::adds_names{}, std::identity{}).n, all);
    EXPECT_EQ(nopal::transform_reduce(v, v, with_names{0}, names::adds_names{}, names::adds_names{}).n, 2 * all);
    nopal::inclusive_scan(v, out.begin(), names::adds_names{});
    if (n > 0) {
      EXPECT_EQ(out.back().n, all);
    }
    nopal::exclusive_scan(v, out.begin(), with_names{0}, names::adds_names{});
    auto const in_order = sorted(n);
    std::vector<with_names> merged(2 * n, with_names{0});
    nopal::merge(in_order, in_order, merged.begin());
    EXPECT_TRUE(std::ranges::is_sorted(merged));
    nopal::fill(out, with_names{1});
    nopal::generate(out, names::makes_four{});
    nopal::for_each(out, [](with_names& x) { ++x.n; });
    EXPECT_EQ(nopal::histogram(out, 6, &with_names::n)[5], n);
  }
}

TEST(names_of_users, are_not_called_by_what_rearranges) {
  for (std::size_t const n : sizes) {
    auto const in_order = sorted(n);
    auto const third = static_cast<std::ptrdiff_t>(n / 3);
    auto v = in_order;
    nopal::reverse(v);
    EXPECT_TRUE(std::ranges::equal(v.rbegin(), v.rend(), in_order.begin(), in_order.end()));
    nopal::rotate(v, v.begin() + third);
    auto out = v;
    nopal::reverse_copy(v, out.begin());
    nopal::rotate_copy(out, out.begin() + third, v.begin());
    EXPECT_EQ(v, in_order);
    nopal::swap_ranges(v, out);
    nopal::copy(in_order, v.begin());
    nopal::copy_n(in_order.begin(), third, v.begin());
    EXPECT_EQ(v, in_order);
    EXPECT_EQ(nopal::stable_partition(v, names::third_of_names{}).begin() - v.begin(),
              nopal::partition_copy(in_order, out.begin(), out.rbegin(), names::third_of_names{}).out1 - out.begin());
    nopal::partial_sort(v, v.begin() + third);
    EXPECT_TRUE(std::equal(v.begin(), v.begin() + third, in_order.begin()));
    nopal::sort(v.begin() + third, v.end());
    nopal::rotate(v, v.begin() + third);
    nopal::inplace_merge(v, v.end() - third);
    EXPECT_EQ(v, in_order);
    nopal::partial_sort_copy(in_order, out);
    EXPECT_EQ(out, in_order);
    nopal::partial_sort_copy(in_order.rbegin(), in_order.rend(), out.begin(), out.begin() + third);
    EXPECT_EQ(out, in_order);
    nopal::replace(out, with_names{3}, with_names{4});
    nopal::replace_if(out, names::third_of_names{}, with_names{4});
    nopal::replace_copy(in_order, v.begin(), with_names{3}, with_names{4});
    nopal::replace_copy_if(in_order, v.begin(), names::third_of_names{}, with_names{4});
    EXPECT_EQ(v, out);
    v.erase(nopal::remove(v, with_names{4}).begin(), v.end());
    EXPECT_EQ(std::ranges::count(v, with_names{4}), 0);
    std::vector<with_names> both(2 * n, with_names{0});
    EXPECT_EQ(nopal::set_union(in_order, in_order, both.begin()).out - both.begin(), static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(nopal::set_intersection(in_order, v, both.begin()).out - both.begin(), static_cast<std::ptrdiff_t>(v.size()));
    EXPECT_EQ(nopal::set_difference(in_order, in_order, both.begin()).out, both.begin());
    EXPECT_EQ(nopal::set_symmetric_difference(in_order, in_order, both.begin()).out, both.begin());
    EXPECT_EQ(nopal::fill_n(both.begin(), 0, with_names{0}), nopal::generate_n(both.begin(), 0, names::makes_four{}));
    nopal::for_each_n(both.begin(), third, [](with_names& x) { ++x.n; });
    std::allocator<with_names> memory;
    with_names* const made = memory.allocate(n);
    std::ranges::subrange const place{made, made + n};
    nopal::uninitialized_copy(in_order, place);
    nopal::destroy(place);
    nopal::uninitialized_fill(place, with_names{1});
    nopal::destroy_n(made, static_cast<std::ptrdiff_t>(n));
    out = in_order;
    nopal::uninitialized_move(out, place);
    nopal::move(place, out.begin());
    EXPECT_EQ(out, in_order);
    nopal::destroy(place);
    memory.deallocate(made, n);
  }
}

nopal::task<with_names> one_more(with_names x) { co_return with_names{x.n + 1}; }
nopal::task<with_names> of_children(with_names x) {
  with_names a{0};
  with_names b{0};
  co_await nopal::fork(&a, one_more, with_names{1});
  co_await nopal::fork(&b, one_more, with_names{2});
  co_await nopal::join;
  auto const c = co_await nopal::call(one_more, x);
  co_return with_names{a.n + b.n + c.n};
}

TEST(names_of_users, are_not_called_by_loops_tasks_and_waits) {
  nopal::pool pool{{.workers = 2}};
  EXPECT_EQ(pool.run(of_children, with_names{5}).n, 11);
  EXPECT_EQ(pool.submit(names::makes_four{}).get().n, 4);
  EXPECT_EQ(pool.submit(one_more, with_names{1}).get().n, 2);
  EXPECT_EQ(nopal::sync_wait(one_more, with_names{1}).n, 2);
  nopal::combinable<with_names> local{with_names{0}};
  nopal::parallel_for(0, 100, [&](int i) { local.local().n += i; });
  EXPECT_EQ(local.combine(names::adds_names{}).n, 4950);
  nopal::parallel_for(0, 100, names::does_nothing{});
  nopal::parallel_for(0, 10, 0, 10, names::does_nothing{});
  nopal::parallel_for_blocks(0, 100, names::does_nothing{});
  pool.run([] {
    nopal::scope s;
    s.fork(names::makes_four{});
    s.join();
    nopal::parallel_invoke(names::makes_four{}, names::makes_four{});
    nopal::channel<with_names> ch{2};
    EXPECT_TRUE(ch.push(with_names{1}));
    EXPECT_TRUE(ch.try_push(with_names{2}));
    EXPECT_EQ(ch.pop()->n, 1);
    EXPECT_EQ(ch.try_pop()->n, 2);
    nopal::eventually<with_names> e;
    e.emplace(3);
    EXPECT_EQ((*e).n, 3);
    nopal::counter left;
    nopal::spawn(left, names::makes_four{});
    nopal::wait_for(left);
  });
}

TEST(names_of_users, are_not_called_by_flows) {
  nopal::pool pool{{.workers = 2}};
  nopal::promise<with_names> p;
  nopal::shared_future<with_names> const f = p.get_future();
  auto third = f.then(names::third_of_names{});
  auto again = f.then([](with_names x) -> nopal::task<with_names> { co_return x; });
  auto later = pool.submit(nopal::after(f, third), names::makes_four{});
  nopal::counter left;
  pool.spawn(nopal::after(f), left, names::makes_four{});
  p.set_value(with_names{3});
  EXPECT_TRUE(third.get());
  EXPECT_EQ(again.get().n, 3);
  EXPECT_EQ(later.get().n, 4);
  nopal::wait_for(left);
  nopal::graph g;
  auto const x = g.node(names::makes_four{});
  auto const y = g.branch(names::third_of_two{}, {x});
  g.node([]() -> nopal::task<with_names> { co_return with_names{1}; }, nopal::after(y));
  pool.submit(g).get();
}

}  // namespace
