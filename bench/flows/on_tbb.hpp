#pragma once

// Each shape as a user of oneTBB would write it: see on_nopal.hpp for what is asked.

#include <array>
#include <memory>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/parallel_sort.h>

#include "../runtimes/tbb.hpp"
#include "flows.hpp"

namespace flows {

using bench::tbb_runtime;
using range = tbb::blocked_range<std::size_t>;

template <class Node>
class graph {
 public:
  graph(const network& shape, Node node) {
    std::vector<bool> follows(shape.size());
    for (std::size_t k = 0; k < shape.size(); ++k)
      nodes_.push_back(std::make_unique<node_type>(all_, [node, k](const tbb::flow::continue_msg&) { node(k); }));
    for (std::size_t k = 0; k < shape.size(); ++k) {
      for (const std::uint32_t to : shape.next[k]) {
        tbb::flow::make_edge(*nodes_[k], *nodes_[to]);
        follows[to] = true;
      }
    }
    for (std::size_t k = 0; k < shape.size(); ++k)
      if (!follows[k]) first_.push_back(nodes_[k].get());
  }
  void run(tbb_runtime& on) {
    on.arena.execute([this] {
      for (node_type* one : first_) one->try_put(tbb::flow::continue_msg{});
      all_.wait_for_all();
    });
  }

 private:
  using node_type = tbb::flow::continue_node<tbb::flow::continue_msg>;
  tbb::flow::graph all_;
  std::vector<std::unique_ptr<node_type>> nodes_;
  std::vector<node_type*> first_;
};

template <bool Serial, class Step, class Sink>
void pipeline(tbb_runtime& on, std::size_t items, Step step, Sink sink) {
  constexpr auto middle = Serial ? tbb::filter_mode::serial_in_order : tbb::filter_mode::parallel;
  std::size_t next = 0;
  const auto source = [&](tbb::flow_control& control) -> std::size_t {
    if (next == items) control.stop();
    return next++;
  };
  on.arena.execute([&] {
    tbb::parallel_pipeline(lines, tbb::make_filter<void, std::size_t>(tbb::filter_mode::serial_in_order, source) &
                                      tbb::make_filter<std::size_t, std::size_t>(middle, step) &
                                      tbb::make_filter<std::size_t, std::size_t>(middle, step) &
                                      tbb::make_filter<std::size_t, void>(tbb::filter_mode::serial_in_order, sink));
  });
}

inline std::size_t typed_pipeline(tbb_runtime& on, std::size_t items) {
  int next = 0;
  const int end = static_cast<int>(items);
  std::size_t sum = 0;
  on.arena.execute([&] {
    tbb::parallel_pipeline(
        lines, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
                                           [&](tbb::flow_control& control) {
                                             if (next == end) control.stop();
                                             return next++;
                                           }) &
                   tbb::make_filter<int, std::string>(tbb::filter_mode::parallel, [](int k) { return std::to_string(k); }) &
                   tbb::make_filter<std::string, int>(tbb::filter_mode::parallel, [](const std::string& s) { return std::stoi(s); }) &
                   tbb::make_filter<int, std::vector<int>>(tbb::filter_mode::parallel, [](int k) { return std::vector<int>{k}; }) &
                   tbb::make_filter<std::vector<int>, void>(tbb::filter_mode::serial_in_order,
                                                            [&](const std::vector<int>& v) { sum += static_cast<std::size_t>(v[0]); }));
  });
  return sum;
}

inline void graph_pipeline(tbb_runtime& on, numbered_levels& all) {
  std::size_t next = 0;
  on.arena.execute([&] {
    tbb::parallel_pipeline(lines, tbb::make_filter<void, std::size_t>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& control) {
                                    if (next == all.value.size()) control.stop();
                                    return next++;
                                  }) & tbb::make_filter<std::size_t, std::size_t>(tbb::filter_mode::parallel, [&](std::size_t k) {
                                    all.own(k);
                                    return k;
                                  }) & tbb::make_filter<std::size_t, std::size_t>(tbb::filter_mode::parallel, [&](std::size_t k) {
                                    all.twice(k);
                                    return k;
                                  }) & tbb::make_filter<std::size_t, void>(tbb::filter_mode::serial_in_order, [&](std::size_t k) {
                                    all.with_those_before(k);
                                  }));
  });
}

inline long place(std::vector<char> queens, std::size_t n) {
  if (queens.size() == n) return 1;
  std::vector<long> parts(n);
  tbb::task_group children;
  for (std::size_t column = 0; column < n; ++column) {
    queens.push_back(static_cast<char>(column));
    if (last_is_safe(queens)) children.run([&part = parts[column], queens, n] { part = place(queens, n); });
    queens.pop_back();
  }
  children.wait();
  long sum = 0;
  for (const long part : parts) sum += part;
  return sum;
}
inline long nqueens(tbb_runtime& on, std::size_t n) {
  return on.arena.execute([&] { return place({}, n); });
}

inline long leaves(long first, long below) {
  if (below == 1) return first;
  std::array<long, 10> parts{};
  tbb::task_group children;
  for (std::size_t k = 0; k < 10; ++k) {
    children.run([&part = parts[k], from = first + static_cast<long>(k) * below / 10, below] { part = leaves(from, below / 10); });
  }
  children.wait();
  long sum = 0;
  for (const long part : parts) sum += part;
  return sum;
}
inline long skynet(tbb_runtime& on, long all) {
  return on.arena.execute([&] { return leaves(0, all); });
}

template <class Job>
void jobs(tbb_runtime& on, std::size_t n, Job job) {
  on.arena.execute([&] {
    tbb::task_group group;
    for (std::size_t k = 0; k < n; ++k) group.run([job, k] { job(k); });
    group.wait();
  });
}

inline void sort_half(double* first, double* last, double* spare) {
  if (last - first <= 1024) {
    std::sort(first, last);
    return;
  }
  double* const middle = first + (last - first) / 2;
  tbb::parallel_invoke([=] { sort_half(first, middle, spare); }, [=] { sort_half(middle, last, spare + (middle - first)); });
  std::merge(first, middle, middle, last, spare);
  std::copy(spare, spare + (last - first), first);
}
inline void merge_sort(tbb_runtime& on, std::vector<double>& v) {
  std::vector<double> spare(v.size());
  on.arena.execute([&] { sort_half(v.data(), v.data() + v.size(), spare.data()); });
}

template <class Body>
void loop(tbb_runtime& on, std::size_t n, Body body) {
  on.arena.execute([&] { tbb::parallel_for(std::size_t{0}, n, body); });
}

template <class A, class B, class C>
void after_two_loops(tbb_runtime& on, std::size_t n, A first, B second, C then) {
  on.arena.execute([&] {
    tbb::parallel_invoke([&] { tbb::parallel_for(std::size_t{0}, n, first); }, [&] { tbb::parallel_for(std::size_t{0}, n, second); });
    tbb::parallel_for(std::size_t{0}, n, then);
  });
}

template <class Body>
void again_and_again(tbb_runtime& on, int times, std::size_t n, Body body) {
  on.arena.execute([&] {
    for (int k = 0; k < times; ++k) tbb::parallel_for(std::size_t{0}, n, body);
  });
}

inline std::size_t primes(tbb_runtime& on, std::size_t below) {
  return on.arena.execute([&] {
    return tbb::parallel_reduce(
        range{1, below}, std::size_t{0},
        [](const range& part, std::size_t count) {
          for (std::size_t k = part.begin(); k < part.end(); ++k) count += is_prime(k);
          return count;
        },
        std::plus<>{});
  });
}
inline double sum(tbb_runtime& on, const std::vector<double>& v) {
  return on.arena.execute([&] {
    return tbb::parallel_reduce(
        range{0, v.size()}, 0.0,
        [&](const range& part, double begun) {
          for (std::size_t k = part.begin(); k < part.end(); ++k) begun += v[k];
          return begun;
        },
        std::plus<>{});
  });
}
inline void scan(tbb_runtime& on, const std::vector<long>& from, std::vector<long>& to) {
  on.arena.execute([&] {
    tbb::parallel_scan(
        range{0, from.size()}, 0L,
        [&](const range& part, long begun, bool final) {
          for (std::size_t k = part.begin(); k < part.end(); ++k) {
            begun += from[k];
            if (final) to[k] = begun;
          }
          return begun;
        },
        std::plus<>{});
  });
}
inline void sort(tbb_runtime& on, std::vector<double>& v) {
  on.arena.execute([&] { tbb::parallel_sort(v.begin(), v.end()); });
}

}  // namespace flows
