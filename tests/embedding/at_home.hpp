#pragma once

// Code that keeps state of its thread across forks and joins: on a pool with stacks that stay, and inside nopal::stay on a pool with stacks
// that do not; from each kind of caller, several at once.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <tuple>

#include "../scale.hpp"
#include "nopal/nopal.hpp"
#include "nopal/stay.hpp"

namespace test {

enum class staying { home_pool, guard };
/// The callers of the code.
enum class caller { outside, job, fork, child, fiber, task };

inline constexpr std::array<char const*, 2> staying_names{"home_pool", "guard"};
inline constexpr std::array<char const*, 6> caller_names{"outside", "job", "fork", "child", "fiber", "task"};

/// How many are called at once, each `rounds` times.
inline constexpr long at_once = 8;
inline constexpr long rounds = scaled(40, 8);

template <class F>
nopal::task<> call_from_tasks(F const* f, long first, long last) {
  if (last - first == 1) {
    (*f)(first);
    co_return;
  }
  co_await nopal::fork(call_from_tasks<F>, f, first, first + (last - first) / 2);
  co_await nopal::call(call_from_tasks<F>, f, first + (last - first) / 2, last);
  co_await nopal::join;
}
template <class F>
void call_from_forks(F const& f, long first, long last) {
  if (last - first == 1) return f(first);
  long const middle = first + (last - first) / 2;
  nopal::parallel_invoke([&] { call_from_forks(f, first, middle); }, [&] { call_from_forks(f, middle, last); });
}

class at_home : public testing::TestWithParam<std::tuple<staying, caller>> {
 protected:
  /// More workers than CPUs, and than oneTBB and OpenMP have threads: so some worker is free to run what these wait for.
  static unsigned many() { return 4 + std::thread::hardware_concurrency(); }

  static nopal::pool_options options(staying by, nopal::schedule how = nopal::schedule::free, unsigned workers = many()) {
    return {
        .workers = workers, .resume = by == staying::home_pool ? nopal::resume::home : nopal::resume::anywhere, .seed = 1, .schedule = how};
  }

  explicit at_home(nopal::schedule how = nopal::schedule::free, unsigned workers = many())
      : own_{std::make_unique<nopal::pool>(options(by(), how, workers))}, pool_{*own_} {}
  /// On the pools of the caller.
  explicit at_home(nopal::pool& (*kept)(staying)) : pool_{kept(by())} {}

  nopal::pool& pool() { return pool_; }

  /// Calls f(), which must find its thread again after any wait. On a thread that works for no pool, say oneTBB's, the forks of f go to the
  /// default pool, and f stays too.
  template <class F>
  void staying_here(F const& f) {
    if (by() == staying::home_pool && nopal::pool::current() == &pool_) return f();
    nopal::stay const here;
    f();
  }

  /// f(k), staying, for each k < at_once * times.
  template <class F>
  void everywhere(F const& f, long times = rounds) {
    auto const one = [&](long k) {
      for (long r = 0; r < times; ++r) staying_here([&] { f(k * times + r); });
    };
    switch (std::get<caller>(GetParam())) {
      case caller::outside: return from_outside(one);
      case caller::job: return from_jobs(one);
      case caller::fork: return pool_.run([&] { call_from_forks(one, 0, at_once); });
      case caller::child: return pool_.run([&] { from_children(one); });
      case caller::fiber: return from_fibers(one);
      case caller::task: return pool_.run([&] { return call_from_tasks(&one, 0, at_once); });
    }
  }

 private:
  static staying by() { return std::get<staying>(GetParam()); }

  void from_outside(auto const& one) {
    std::array<std::thread, 3> others;
    for (long k = 0; k < 3; ++k) others[static_cast<std::size_t>(k)] = std::thread{[&, k] { pool_.run([&] { one(k); }); }};
    pool_.run([&] { one(3); });
    for (std::thread& t : others) t.join();
  }
  void from_jobs(auto const& one) {
    std::array<nopal::future<void>, at_once> all;
    for (long k = 0; k < at_once; ++k) all[static_cast<std::size_t>(k)] = pool_.submit([&one, k] { one(k); });
    for (auto& f : all) f.get();
  }
  static void from_children(auto const& one) {
    nopal::scope s;
    for (long k = 0; k < at_once; ++k) s.fork([&one, k] { one(k); });
    s.join();
  }
  void from_fibers(auto const& one) {
    nopal::counter left;
    for (long k = 0; k < at_once; ++k) pool_.spawn(left, [&one, k] { one(k); });
    nopal::wait_for(left);
  }

  std::unique_ptr<nopal::pool> const own_;
  nopal::pool& pool_;
};

inline std::string name_of(testing::TestParamInfo<std::tuple<staying, caller>> const& info) {
  return std::string{staying_names[static_cast<std::size_t>(std::get<staying>(info.param))]} + "_" +
         caller_names[static_cast<std::size_t>(std::get<caller>(info.param))];
}
inline auto everyone() {
  return testing::Combine(testing::Values(staying::home_pool, staying::guard),
                          testing::Values(caller::outside, caller::job, caller::fork, caller::child, caller::fiber, caller::task));
}

/// The sum of first .. last - 1, by forks that thieves have time to take.
inline long sum_by_forks(long first, long last) {
  if (last - first == 1) {
    if (first % 4 == 0) std::this_thread::yield();
    return first;
  }
  long a = 0, b = 0;
  long const middle = first + (last - first) / 2;
  nopal::parallel_invoke([&] { a = sum_by_forks(first, middle); }, [&] { b = sum_by_forks(middle, last); });
  return a + b;
}
inline long sum_by_children(long first, long last) {
  std::array<long, 4> parts{};
  nopal::scope s;
  for (long k = 0; k < 4; ++k) {
    s.fork([&part = parts[static_cast<std::size_t>(k)], from = first + (last - first) * k / 4, to = first + (last - first) * (k + 1) / 4] {
      if (from % 2 == 0) std::this_thread::yield();
      for (long i = from; i < to; ++i) part += i;
    });
  }
  s.join();
  return parts[0] + parts[1] + parts[2] + parts[3];
}
inline nopal::task<long> sum_by_tasks(long first, long last) {
  if (last - first == 1) {
    if (first % 4 == 0) std::this_thread::yield();
    co_return first;
  }
  long a = 0, b = 0;
  long const middle = first + (last - first) / 2;
  co_await nopal::fork(&a, sum_by_tasks, first, middle);
  co_await nopal::call(&b, sum_by_tasks, middle, last);
  co_await nopal::join;
  co_return a + b;
}
/// One of the three.
inline long sum(long first, long last, long which) {
  switch (which % 3) {
    case 0: return sum_by_forks(first, last);
    case 1: return sum_by_children(first, last);
    default: return nopal::sync_wait(sum_by_tasks, first, last);
  }
}
inline constexpr long sum_to(long n) { return n * (n - 1) / 2; }

}  // namespace test
