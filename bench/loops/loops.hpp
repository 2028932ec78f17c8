#pragma once

// Loops: the shapes that programs have, each as a plain loop of every library. One solution is timed, called by the program's main thread,
// again and again at once or after a rest in which workers may have fallen asleep.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../opaque.hpp"

namespace bench {

struct loops_options {
  std::string shape = "stream";
  unsigned workers = 1;
  unsigned rest_ms = 0;  // before each call; 0: none
  double seconds = 0.5;  // how long calls are timed, and at least three
  bool smoke = false;    // the smallest size, and three calls
};

struct loops_record {
  std::string impl;
  std::string peer;
  std::vector<double> nanoseconds;  // one for each call
  bool ok;
};

int start_loops(int argc, char** argv, const std::function<loops_record(const loops_options&)>& measure);

// Some nanoseconds of arithmetic that vectorises.
inline std::uint64_t mix(std::uint64_t x) {
  for (int round = 0; round < 4; ++round) x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u + 1;
  return x;
}
// A chain of arithmetic of so many steps.
inline std::uint64_t chain(std::uint64_t x, std::uint64_t steps) {
  for (std::uint64_t k = 0; k < steps; ++k) x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u + 1;
  return x;
}

// One shape: `run(loop)` is timed, where loop(n, body) calls body(i) for each i below n; `expect` returns the right answer.
struct stream_shape {  // a·x + y of floats: bound by memory
  explicit stream_shape(bool smoke) : x(smoke ? 1000 : 10'000'000), y(x.size()) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000);
  }
  template <class Loop>
  void run(Loop loop) {
    float const a = 0.5f;
    float const* const from = x.data();
    float* const to = y.data();
    loop(x.size(), [=](std::size_t i) { to[i] = a * from[i] + to[i]; });
    ++runs;
  }
  bool correct() const {
    for (std::size_t i = 0; i < x.size(); i += 997)
      if (const float sum = y[i]; runs < 10'000 && sum != 0.5f * x[i] * static_cast<float>(runs)) return false;
    return true;
  }
  std::vector<float> x, y;
  int runs = 0;
};

struct hash_shape {  // arithmetic, and 80 MB of results
  explicit hash_shape(bool smoke) : out(smoke ? 1000 : 10'000'000) {}
  template <class Loop>
  void run(Loop loop) {
    std::uint64_t* const to = out.data();
    loop(out.size(), [=](std::size_t i) { to[i] = mix(i); });
  }
  bool correct() const {
    for (std::size_t i = 0; i < out.size(); i += 97)
      if (out[i] != mix(i)) return false;
    return true;
  }
  std::vector<std::uint64_t> out;
};

struct triangle_shape {  // iteration i takes i steps
  explicit triangle_shape(bool smoke) : out(smoke ? 100 : 8'000) {}
  template <class Loop>
  void run(Loop loop) {
    std::uint64_t* const to = out.data();
    loop(out.size(), [=](std::size_t i) { to[i] = chain(i, i); });
  }
  bool correct() const {
    for (std::size_t i = 0; i < out.size(); i += 97)
      if (out[i] != chain(i, i)) return false;
    return true;
  }
  std::vector<std::uint64_t> out;
};

struct nested_shape {  // a loop of 1000 in each iteration of one of 2000
  static constexpr std::size_t columns = 1000;
  explicit nested_shape(bool smoke) : out((smoke ? 10 : 2000) * columns) {}
  template <class Loop>
  void run(Loop loop) {
    std::uint64_t* const to = out.data();
    loop(out.size() / columns,
         [=, n = steps](std::size_t r) { loop(columns, [=](std::size_t c) { to[r * columns + c] = chain(r + c, n); }); });
  }
  bool correct() const {
    for (std::size_t i = 0; i < out.size(); i += 97)
      if (out[i] != chain(i / columns + i % columns, steps)) return false;
    return true;
  }
  std::uint64_t steps = 16;
  std::vector<std::uint64_t> out;
};

struct turns_shape {  // 1000 loops of 5000, one after the other
  explicit turns_shape(bool smoke) : loops{smoke ? 10 : 1000}, out(5000) {}
  template <class Loop>
  void run(Loop loop) {
    std::uint64_t* const to = out.data();
    for (int k = 0; k < loops; ++k) loop(out.size(), [=](std::size_t i) { to[i] = mix(i); });
  }
  bool correct() const {
    for (std::size_t i = 0; i < out.size(); ++i)
      if (out[i] != mix(i)) return false;
    return true;
  }
  int loops;
  std::vector<std::uint64_t> out;
};

struct short_shape {  // one loop of so many iterations of some 5 ns
  short_shape(std::size_t n, bool) : out(n) {}
  template <class Loop>
  void run(Loop loop) {
    std::uint64_t* const to = out.data();
    loop(out.size(), [=, n = steps](std::size_t i) { to[i] = chain(i, n); });
  }
  bool correct() const {
    for (std::size_t i = 0; i < out.size(); ++i)
      if (out[i] != chain(i, steps)) return false;
    return true;
  }
  std::uint64_t steps = 16;
  std::vector<std::uint64_t> out;
};

// Times a shape with the runtime's loop. Never inlined, so that the loop is compiled as in any function.
template <class Runtime, class Shape>
[[gnu::noinline]] void solve(Runtime& runtime, Shape& shape) {
  shape.run([&runtime](std::size_t n, auto const& body) { runtime.loop(n, body); });
}

template <class Runtime, class Shape>
loops_record time_shape(const loops_options& opts, Runtime& runtime, Shape shape) {
  loops_record result{.impl = Runtime::name, .peer = runtime.version(), .nanoseconds = {}, .ok = true};
  using clock = std::chrono::steady_clock;
  const auto timed = [&] {
    if (opts.rest_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds{opts.rest_ms});
    make_opaque(shape);
    const auto begin = clock::now();
    solve(runtime, shape);
    make_opaque(shape);
    return clock::now() - begin;
  };
  const auto seconds = [](double s) { return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>{s}); };
  // Long enough for the system to move new threads to processors of their own.
  const auto warm = clock::now() + seconds(opts.smoke ? 0 : 0.1);
  do timed();
  while (clock::now() < warm);
  const auto end = clock::now() + seconds(opts.smoke ? 0 : opts.seconds);
  while (result.nanoseconds.size() < 3 || (clock::now() < end && result.nanoseconds.size() < 100'000)) {
    result.nanoseconds.push_back(std::chrono::duration<double, std::nano>(timed()).count());
  }
  result.ok = shape.correct();
  return result;
}

// `Runtime`: made from the number of workers; loop(n, body), name, version().
template <class Runtime>
int run_loops(int argc, char** argv) {
  return start_loops(argc, argv, [](const loops_options& opts) {
    Runtime runtime{opts.workers};
    if (opts.shape == "stream") return time_shape(opts, runtime, stream_shape{opts.smoke});
    if (opts.shape == "hash") return time_shape(opts, runtime, hash_shape{opts.smoke});
    if (opts.shape == "triangle") return time_shape(opts, runtime, triangle_shape{opts.smoke});
    if (opts.shape == "nested") return time_shape(opts, runtime, nested_shape{opts.smoke});
    if (opts.shape == "turns") return time_shape(opts, runtime, turns_shape{opts.smoke});
    if (std::size_t const n = std::strtoull(opts.shape.c_str(), nullptr, 10); n > 0)
      return time_shape(opts, runtime, short_shape{n, opts.smoke});
    throw std::invalid_argument{"--shape takes stream, hash, triangle, nested, turns or a number of iterations, not '" + opts.shape + "'"};
  });
}

}  // namespace bench
