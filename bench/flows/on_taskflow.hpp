#pragma once

// Each shape as a user of Taskflow would write it: see on_nopal.hpp for what is asked.

#include <array>

#include <taskflow/algorithm/data_pipeline.hpp>
#include <taskflow/algorithm/for_each.hpp>
#include <taskflow/algorithm/pipeline.hpp>
#include <taskflow/algorithm/reduce.hpp>
#include <taskflow/algorithm/scan.hpp>
#include <taskflow/algorithm/sort.hpp>

#include "../runtimes/taskflow.hpp"
#include "flows.hpp"

namespace flows {

using bench::taskflow_runtime;
using range = tf::IndexRange<std::size_t>;

template <class Node>
class graph {
 public:
  graph(const network& shape, Node node) {
    std::vector<tf::Task> tasks;
    for (std::size_t k = 0; k < shape.size(); ++k) tasks.push_back(all_.emplace([node, k] { node(k); }));
    for (std::size_t k = 0; k < shape.size(); ++k)
      for (const std::uint32_t to : shape.next[k]) tasks[k].precede(tasks[to]);
  }
  void run(taskflow_runtime& on) { on.executor.run(all_).wait(); }

 private:
  tf::Taskflow all_;
};

inline void run_pipes(taskflow_runtime& on, auto& pipes) {
  tf::Taskflow all;
  all.composed_of(pipes);
  on.executor.run(all).wait();
}

template <bool Serial, class Step, class Sink>
void pipeline(taskflow_runtime& on, std::size_t items, Step step, Sink sink) {
  constexpr auto middle = Serial ? tf::PipeType::SERIAL : tf::PipeType::PARALLEL;
  std::array<std::size_t, lines> at{};
  const auto filter = [&] { return [&](tf::Pipeflow& flow) { at[flow.line()] = step(at[flow.line()]); }; };
  tf::Pipeline pipes{lines,
                     tf::Pipe{tf::PipeType::SERIAL,
                              [&](tf::Pipeflow& flow) {
                                if (flow.token() == items) return flow.stop();
                                at[flow.line()] = flow.token();
                              }},
                     tf::Pipe{middle, filter()}, tf::Pipe{middle, filter()},
                     tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow& flow) { sink(at[flow.line()]); }}};
  run_pipes(on, pipes);
}

inline std::size_t typed_pipeline(taskflow_runtime& on, std::size_t items) {
  std::size_t sum = 0;
  tf::DataPipeline pipes{lines,
                         tf::make_data_pipe<void, int>(tf::PipeType::SERIAL,
                                                       [&](tf::Pipeflow& flow) {
                                                         if (flow.token() == items) flow.stop();
                                                         return static_cast<int>(flow.token());
                                                       }),
                         tf::make_data_pipe<int, std::string>(tf::PipeType::PARALLEL, [](int& k) { return std::to_string(k); }),
                         tf::make_data_pipe<std::string, int>(tf::PipeType::PARALLEL, [](std::string& s) { return std::stoi(s); }),
                         tf::make_data_pipe<int, std::vector<int>>(tf::PipeType::PARALLEL, [](int& k) { return std::vector<int>{k}; }),
                         tf::make_data_pipe<std::vector<int>, void>(tf::PipeType::SERIAL,
                                                                    [&](std::vector<int>& v) { sum += static_cast<std::size_t>(v[0]); })};
  run_pipes(on, pipes);
  return sum;
}

inline void graph_pipeline(taskflow_runtime& on, numbered_levels& all) {
  std::array<std::size_t, lines> at{};
  tf::Pipeline pipes{lines,
                     tf::Pipe{tf::PipeType::SERIAL,
                              [&](tf::Pipeflow& flow) {
                                if (flow.token() == all.value.size()) return flow.stop();
                                at[flow.line()] = flow.token();
                              }},
                     tf::Pipe{tf::PipeType::PARALLEL, [&](tf::Pipeflow& flow) { all.own(at[flow.line()]); }},
                     tf::Pipe{tf::PipeType::PARALLEL, [&](tf::Pipeflow& flow) { all.twice(at[flow.line()]); }},
                     tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow& flow) { all.with_those_before(at[flow.line()]); }}};
  run_pipes(on, pipes);
}

inline long place(tf::Executor& on, std::vector<char> queens, std::size_t n) {
  if (queens.size() == n) return 1;
  std::vector<long> parts(n);
  tf::TaskGroup children = on.task_group();
  for (std::size_t column = 0; column < n; ++column) {
    queens.push_back(static_cast<char>(column));
    if (last_is_safe(queens)) children.silent_async([&on, &part = parts[column], queens, n] { part = place(on, queens, n); });
    queens.pop_back();
  }
  children.corun();
  long sum = 0;
  for (const long part : parts) sum += part;
  return sum;
}
inline long nqueens(taskflow_runtime& on, std::size_t n) {
  return on.executor.async([&] { return place(on.executor, {}, n); }).get();
}

inline long leaves(tf::Executor& on, long first, long below) {
  if (below == 1) return first;
  std::array<long, 10> parts{};
  tf::TaskGroup children = on.task_group();
  for (std::size_t k = 0; k < 10; ++k) {
    children.silent_async(
        [&on, &part = parts[k], from = first + static_cast<long>(k) * below / 10, below] { part = leaves(on, from, below / 10); });
  }
  children.corun();
  long sum = 0;
  for (const long part : parts) sum += part;
  return sum;
}
inline long skynet(taskflow_runtime& on, long all) {
  return on.executor.async([&] { return leaves(on.executor, 0, all); }).get();
}

template <class Job>
void jobs(taskflow_runtime& on, std::size_t n, Job job) {
  for (std::size_t k = 0; k < n; ++k) on.executor.silent_async([job, k] { job(k); });
  on.executor.wait_for_all();
}

inline void sort_half(tf::Executor& on, double* first, double* last, double* spare) {
  if (last - first <= 1024) {
    std::sort(first, last);
    return;
  }
  double* const middle = first + (last - first) / 2;
  tf::TaskGroup children = on.task_group();
  children.silent_async([=, &on] { sort_half(on, middle, last, spare + (middle - first)); });
  sort_half(on, first, middle, spare);
  children.corun();
  std::merge(first, middle, middle, last, spare);
  std::copy(spare, spare + (last - first), first);
}
inline void merge_sort(taskflow_runtime& on, std::vector<double>& v) {
  std::vector<double> spare(v.size());
  on.executor.async([&] { sort_half(on.executor, v.data(), v.data() + v.size(), spare.data()); }).get();
}

template <class Body>
void loop(taskflow_runtime& on, std::size_t n, Body body) {
  tf::Taskflow all;
  all.for_each_index(std::size_t{0}, n, std::size_t{1}, body);
  on.executor.run(all).wait();
}

template <class A, class B, class C>
void after_two_loops(taskflow_runtime& on, std::size_t n, A first, B second, C then) {
  tf::Taskflow all;
  tf::Task a = all.for_each_index(std::size_t{0}, n, std::size_t{1}, first);
  tf::Task b = all.for_each_index(std::size_t{0}, n, std::size_t{1}, second);
  all.for_each_index(std::size_t{0}, n, std::size_t{1}, then).succeed(a, b);
  on.executor.run(all).wait();
}

template <class Body>
void again_and_again(taskflow_runtime& on, int times, std::size_t n, Body body) {
  tf::Taskflow all;
  all.for_each_index(std::size_t{0}, n, std::size_t{1}, body);
  on.executor.run_n(all, static_cast<std::size_t>(times)).wait();
}

inline std::size_t primes(taskflow_runtime& on, std::size_t below) {
  tf::Taskflow all;
  std::size_t count = 0;
  all.reduce_by_index(
      range{1, below, 1}, count,
      [](range part, std::optional<std::size_t> begun) {
        std::size_t found = begun.value_or(0);
        for (std::size_t k = part.begin(); k < part.end(); k += part.step_size()) found += is_prime(k);
        return found;
      },
      std::plus<>{});
  on.executor.run(all).wait();
  return count;
}
inline double sum(taskflow_runtime& on, const std::vector<double>& v) {
  tf::Taskflow all;
  double result = 0;
  all.reduce_by_index(
      range{0, v.size(), 1}, result,
      [&](range part, std::optional<double> begun) {
        double added = begun.value_or(0);
        for (std::size_t k = part.begin(); k < part.end(); k += part.step_size()) added += v[k];
        return added;
      },
      std::plus<>{});
  on.executor.run(all).wait();
  return result;
}
inline void scan(taskflow_runtime& on, const std::vector<long>& from, std::vector<long>& to) {
  tf::Taskflow all;
  all.inclusive_scan(from.begin(), from.end(), to.begin(), std::plus<>{});
  on.executor.run(all).wait();
}
inline void sort(taskflow_runtime& on, std::vector<double>& v) {
  tf::Taskflow all;
  all.sort(v.begin(), v.end());
  on.executor.run(all).wait();
}

}  // namespace flows
