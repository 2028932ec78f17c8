#pragma once

// Each shape as a user of nopal would write it. The other on_*.hpp do the same for theirs.

#include <ranges>

#include "../runtimes/nopal.hpp"
#include "flows.hpp"

namespace flows {

using bench::nopal_runtime;

// Calls node(k) for each k, after those before it.
template <class Node>
class graph {
 public:
  graph(const network& shape, Node node) {
    std::vector<nopal::graph_node> nodes;
    for (std::size_t k = 0; k < shape.size(); ++k) nodes.push_back(all_.node([node, k] { node(k); }));
    for (std::size_t k = 0; k < shape.size(); ++k)
      for (const std::uint32_t to : shape.next[k]) all_.edge(nodes[k], nodes[to]);
  }
  void run(nopal_runtime& on) { on.pool.run(all_); }

 private:
  nopal::graph all_;
};

// The numbers below `items` through two steps, in parallel or one by one, and in order into the sink.
template <bool Serial, class Step, class Sink>
void pipeline(nopal_runtime& on, std::size_t items, Step step, Sink sink) {
  using middle = std::conditional_t<Serial, nopal::stage::serial_in_order<Step>, nopal::stage::parallel<Step>>;
  std::size_t next = 0;
  const auto source = [&]() -> std::optional<std::size_t> { return next < items ? std::optional{next++} : std::nullopt; };
  on.pool.run([&] { nopal::pipeline(nopal::tokens{lines}, source, middle{step}, middle{step}, nopal::stage::serial_in_order{sink}); });
}

// The same numbers as texts, numbers, arrays; returns their sum.
inline std::size_t typed_pipeline(nopal_runtime& on, std::size_t items) {
  namespace stage = nopal::stage;
  int next = 0;
  const int end = static_cast<int>(items);
  std::size_t sum = 0;
  on.pool.run([&] {
    nopal::pipeline(
        nopal::tokens{lines}, [&]() -> std::optional<int> { return next < end ? std::optional{next++} : std::nullopt; },
        stage::parallel{[](int k) { return std::to_string(k); }}, stage::parallel{[](const std::string& s) { return std::stoi(s); }},
        stage::parallel{[](int k) { return std::vector<int>{k}; }},
        stage::serial_in_order{[&](const std::vector<int>& v) { sum += static_cast<std::size_t>(v[0]); }});
  });
  return sum;
}

// Each node through three stages, of which the last has need of the nodes before it.
inline void graph_pipeline(nopal_runtime& on, numbered_levels& all) {
  namespace stage = nopal::stage;
  std::size_t next = 0;
  on.pool.run([&] {
    nopal::pipeline(
        nopal::tokens{lines},
        [&]() -> std::optional<std::size_t> { return next < all.value.size() ? std::optional{next++} : std::nullopt; },
        stage::parallel{[&](std::size_t k) {
          all.own(k);
          return k;
        }},
        stage::parallel{[&](std::size_t k) {
          all.twice(k);
          return k;
        }},
        stage::serial_in_order{[&](std::size_t k) { all.with_those_before(k); }});
  });
}

inline nopal::task<long> place(std::vector<char> queens, std::size_t n) {
  if (queens.size() == n) co_return 1;
  std::vector<long> parts(n);
  for (std::size_t column = 0; column < n; ++column) {
    queens.push_back(static_cast<char>(column));
    if (last_is_safe(queens)) co_await nopal::fork(&parts[column], place, queens, n);
    queens.pop_back();
  }
  co_await nopal::join;
  long sum = 0;
  for (const long part : parts) sum += part;
  co_return sum;
}
inline long nqueens(nopal_runtime& on, std::size_t n) { return on.pool.run(place, std::vector<char>{}, n); }

// The sum of the numbers below `all`, a power of ten, by tasks of ten children.
inline nopal::task<long> leaves(long first, long below) {
  if (below == 1) co_return first;
  std::array<long, 10> parts{};
  for (std::size_t k = 0; k < 10; ++k) co_await nopal::fork(&parts[k], leaves, first + static_cast<long>(k) * below / 10, below / 10);
  co_await nopal::join;
  long sum = 0;
  for (const long part : parts) sum += part;
  co_return sum;
}
inline long skynet(nopal_runtime& on, long all) { return on.pool.run(leaves, 0L, all); }

// So many jobs from the main thread, which works in the pool meanwhile.
template <class Job>
void jobs(nopal_runtime& on, std::size_t n, Job job) {
  on.pool.run([&] {
    nopal::scope all;
    for (std::size_t k = 0; k < n; ++k) all.fork([job, k] { job(k); });
    all.join();
  });
}

inline void sort_half(double* first, double* last, double* spare) {
  if (last - first <= 1024) {
    std::sort(first, last);
    return;
  }
  double* const middle = first + (last - first) / 2;
  nopal::parallel_invoke([=] { sort_half(first, middle, spare); }, [=] { sort_half(middle, last, spare + (middle - first)); });
  std::merge(first, middle, middle, last, spare);
  std::copy(spare, spare + (last - first), first);
}
inline void merge_sort(nopal_runtime& on, std::vector<double>& v) {
  std::vector<double> spare(v.size());
  on.pool.run([&] { sort_half(v.data(), v.data() + v.size(), spare.data()); });
}

template <class Body>
void loop(nopal_runtime& on, std::size_t n, Body body) {
  on.pool.run([&] { nopal::parallel_for(std::size_t{0}, n, body); });
}

// Two loops that have nothing to do with each other, and one after both.
template <class A, class B, class C>
void after_two_loops(nopal_runtime& on, std::size_t n, A first, B second, C then) {
  nopal::graph g;
  const auto a = g.node([&] { nopal::parallel_for(std::size_t{0}, n, first); });
  const auto b = g.node([&] { nopal::parallel_for(std::size_t{0}, n, second); });
  g.node([&] { nopal::parallel_for(std::size_t{0}, n, then); }, nopal::after(a, b));
  on.pool.run(g);
}

// The same loop so many times.
template <class Body>
void again_and_again(nopal_runtime& on, int times, std::size_t n, Body body) {
  on.pool.run([&] {
    for (int k = 0; k < times; ++k) nopal::parallel_for(std::size_t{0}, n, body);
  });
}

inline std::size_t primes(nopal_runtime& on, std::size_t below) {
  return on.pool.run([&] { return static_cast<std::size_t>(nopal::count_if(std::views::iota(std::size_t{1}, below), is_prime)); });
}
inline double sum(nopal_runtime& on, const std::vector<double>& v) {
  return on.pool.run([&] { return nopal::reduce(v, 0.0); });
}
inline void scan(nopal_runtime& on, const std::vector<long>& from, std::vector<long>& to) {
  on.pool.run([&] { nopal::inclusive_scan(from, to.begin()); });
}
inline void sort(nopal_runtime& on, std::vector<double>& v) {
  on.pool.run([&] { nopal::sort(v); });
}

}  // namespace flows
