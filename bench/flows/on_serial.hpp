#pragma once

// Each shape without a library: see on_nopal.hpp for what is asked.

#include <numeric>

#include "../runtimes/serial.hpp"
#include "flows.hpp"

namespace flows {

using bench::serial_runtime;

template <class Node>
class graph {
 public:
  graph(const network& shape, Node node) : nodes_{shape.size()}, node_{node} {}
  void run(serial_runtime&) {
    for (std::size_t k = 0; k < nodes_; ++k) node_(k);
  }

 private:
  std::size_t nodes_;
  Node node_;
};

template <bool Serial, class Step, class Sink>
void pipeline(serial_runtime&, std::size_t items, Step step, Sink sink) {
  for (std::size_t k = 0; k < items; ++k) sink(step(step(k)));
}

inline std::size_t typed_pipeline(serial_runtime&, std::size_t items) {
  std::size_t sum = 0;
  for (std::size_t k = 0; k < items; ++k) sum += static_cast<std::size_t>(std::vector<int>{std::stoi(std::to_string(k))}[0]);
  return sum;
}

inline void graph_pipeline(serial_runtime&, numbered_levels& all) {
  for (std::size_t k = 0; k < all.value.size(); ++k) {
    all.own(k);
    all.twice(k);
    all.with_those_before(k);
  }
}

inline long place(std::vector<char>& queens, std::size_t n) {
  if (queens.size() == n) return 1;
  long sum = 0;
  for (std::size_t column = 0; column < n; ++column) {
    queens.push_back(static_cast<char>(column));
    if (last_is_safe(queens)) sum += place(queens, n);
    queens.pop_back();
  }
  return sum;
}
inline long nqueens(serial_runtime&, std::size_t n) {
  std::vector<char> none;
  return place(none, n);
}

inline long leaves(long first, long below) {
  if (below == 1) return first;
  long sum = 0;
  for (long k = 0; k < 10; ++k) sum += leaves(first + k * below / 10, below / 10);
  return sum;
}
inline long skynet(serial_runtime&, long all) { return leaves(0, all); }

template <class Job>
void jobs(serial_runtime&, std::size_t n, Job job) {
  for (std::size_t k = 0; k < n; ++k) job(k);
}

inline void sort_half(double* first, double* last, double* spare) {
  if (last - first <= 1024) {
    std::sort(first, last);
    return;
  }
  double* const middle = first + (last - first) / 2;
  sort_half(first, middle, spare);
  sort_half(middle, last, spare + (middle - first));
  std::merge(first, middle, middle, last, spare);
  std::copy(spare, spare + (last - first), first);
}
inline void merge_sort(serial_runtime&, std::vector<double>& v) {
  std::vector<double> spare(v.size());
  sort_half(v.data(), v.data() + v.size(), spare.data());
}

template <class Body>
void loop(serial_runtime&, std::size_t n, Body body) {
  for (std::size_t k = 0; k < n; ++k) body(k);
}

template <class A, class B, class C>
void after_two_loops(serial_runtime& on, std::size_t n, A first, B second, C then) {
  loop(on, n, first);
  loop(on, n, second);
  loop(on, n, then);
}

template <class Body>
void again_and_again(serial_runtime& on, int times, std::size_t n, Body body) {
  for (int k = 0; k < times; ++k) loop(on, n, body);
}

inline std::size_t primes(serial_runtime&, std::size_t below) {
  std::size_t count = 0;
  for (std::size_t k = 1; k < below; ++k) count += is_prime(k);
  return count;
}

inline double sum(serial_runtime&, const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
inline void scan(serial_runtime&, const std::vector<long>& from, std::vector<long>& to) {
  std::inclusive_scan(from.begin(), from.end(), to.begin());
}
inline void sort(serial_runtime&, std::vector<double>& v) { std::sort(v.begin(), v.end()); }

}  // namespace flows
