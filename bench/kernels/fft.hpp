#pragma once

// fft: the discrete Fourier transform of complex numbers, recursively by four: sort them into four parts by their index modulo 4,
// transform the parts, combine. Sorting and combining are loops over memory, and are split in pieces themselves.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "../harness.hpp"

namespace bench {

struct complex {
  float re, im;

  friend complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
  friend complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
  friend complex operator*(complex a, complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  [[nodiscard]] complex times_i() const { return {-im, re}; }
};

struct fft_problem {
  static constexpr const char* name = "fft";
  static constexpr std::size_t leaf = 32;    // points that are transformed in one go
  static constexpr std::size_t piece = 128;  // quadruples of points that are sorted or combined in one go

  explicit fft_problem(const options& opts)
      : n{valid(pick(opts, {.smoke = std::size_t{1} << 16, .standard = std::size_t{1} << 24, .paper = std::size_t{1} << 26}))},
        points(n),
        scratch(n) {
    for (std::size_t length = leaf; length > 1; length /= 2)
      for (std::size_t k = 0; k < length / 2; ++k) leaf_roots_[length / 2 + k] = root(length, k);
    std::size_t needed = 0;
    for (std::size_t length = n; length > leaf; length /= 4) needed += length / 4;
    roots_.reserve(needed);
    for (std::size_t length = n; length > leaf; length /= 4) {
      roots_of_[static_cast<std::size_t>(std::countr_zero(length))] = roots_.data() + roots_.size();
      for (std::size_t k = 0; k < length / 4; ++k) roots_.push_back({root(length, k), root(length, 2 * k), root(length, 3 * k)});
    }
  }

  // Sorts the quadruples [first, last) of the `length` points at `from` into four parts at `to`.
  static void sort(const complex* from, complex* to, std::size_t length, std::size_t first, std::size_t last) {
    const std::size_t quarter = length / 4;
    for (std::size_t k = first; k < last; ++k)
      for (std::size_t part = 0; part < 4; ++part) to[part * quarter + k] = from[4 * k + part];
  }

  // Combines the transforms of the four parts at `from` to that of `length` points at `to`: of each part the points [first, last).
  void combine(const complex* from, complex* to, std::size_t length, std::size_t first, std::size_t last) const {
    const std::size_t quarter = length / 4;
    const three* const roots = roots_of_[static_cast<std::size_t>(std::countr_zero(length))];
    for (std::size_t k = first; k < last; ++k) {
      const complex a = from[k];
      const complex b = from[quarter + k] * roots[k].one;
      const complex c = from[2 * quarter + k] * roots[k].two;
      const complex d = from[3 * quarter + k] * roots[k].three;
      const complex even = a + c;
      const complex odd = b + d;
      const complex even_off = a - c;
      const complex odd_off = (b - d).times_i();
      to[k] = even + odd;
      to[quarter + k] = even_off - odd_off;
      to[2 * quarter + k] = even - odd;
      to[3 * quarter + k] = even_off + odd_off;
    }
  }

  // Transforms at most `leaf` points in place.
  void transform(complex* x, std::size_t length) const {
    complex y[leaf];
    for (std::size_t k = 0, reversed = 0; k < length; ++k) {
      y[reversed] = x[k];
      std::size_t bit = length / 2;
      for (; (reversed & bit) != 0; bit /= 2) reversed ^= bit;
      reversed |= bit;
    }
    for (std::size_t half = 1; half < length; half *= 2)
      for (std::size_t i = 0; i < length; i += 2 * half)
        for (std::size_t k = 0; k < half; ++k) {
          const complex a = y[i + k];
          const complex b = y[i + k + half] * leaf_roots_[half + k];
          y[i + k] = a + b;
          y[i + k + half] = a - b;
        }
    std::copy(y, y + length, x);
  }

  void reset() {
    for (std::size_t j = 0; j < n; ++j) points[j] = input(j);
  }
  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return "error " + std::to_string(error() * 1e9) + "e-9"; }

  // The sum of the results with weights whose transform is known, against the same sum of the input: chirps, in which every result
  // has the same weight, and so has every number of the input. Rounding to floats changes the sum of n by about 2⁻²³·n; one wrong
  // result, or one number left out, by about √n.
  [[nodiscard]] bool correct() const { return error() < 1e-5; }

  // Four parts at each level: three forks; or the halvings of its loops.
  [[nodiscard]] std::size_t fork_depth() const { return fork_depth(n); }

  std::size_t n;
  std::vector<complex> points;
  std::vector<complex> scratch;

 private:
  struct three {
    complex one, two, three;
  };

  static std::size_t valid(std::size_t n) {
    if (n < 2 || !std::has_single_bit(n)) throw std::invalid_argument{"fft: --size is a power of two"};
    return n;
  }

  // e^(−2πik/length)
  static complex root(std::size_t length, std::size_t k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
    return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  }

  // Between −1 and 1, without rounding.
  static complex input(std::uint64_t j) {
    std::uint64_t h = (j + 1) * 0x9E3779B97F4A7C15;
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9;
    const auto part = [](std::uint64_t bits) { return static_cast<float>(bits & 0xFFFFFF) * 0x1p-23F - 1; };
    return {part(h >> 8), part(h >> 40)};
  }

  // Σ f(k)·e^(iπ(square·k² + linear·k)/n). The factor turns by steps that turn themselves, and begins anew, exactly, now and then.
  template <class F>
  [[nodiscard]] std::complex<double> chirp_sum(std::int64_t square, std::int64_t linear, const F& f) const {
    constexpr std::size_t stretch = 256;
    const auto turn = [&](std::int64_t half_turns) {  // e^(iπ·half_turns/n)
      const auto rest = static_cast<std::uint64_t>(half_turns) & (2 * n - 1);
      return std::polar(1.0, std::numbers::pi * static_cast<double>(rest) / static_cast<double>(n));
    };
    const std::complex<double> turn_of_step = turn(2 * square);
    std::complex<double> sum, factor, step;
    for (std::size_t i = 0; i < n; ++i) {
      if (const auto k = static_cast<std::int64_t>(i); i % stretch == 0) {
        factor = turn(square * k * k + linear * k);
        step = turn(square * (2 * k + 1) + linear);
      }
      const complex x = f(i);
      sum += std::complex<double>{x.re, x.im} * factor;
      factor *= step;
      step *= turn_of_step;
    }
    return sum;
  }

  // The transform of e^(iπ(−k² + 2sk)/n) is √n·e^(−iπ/4)·e^(iπ(j − s)²/n).
  [[nodiscard]] double error() const {
    double most = 0;
    for (const std::int64_t s : {3, 1001}) {
      const std::complex<double> results = chirp_sum(-1, 2 * s, [&](std::size_t k) { return points[k]; });
      const std::complex<double> inputs = chirp_sum(1, -2 * s, [](std::size_t j) { return input(j); });
      const double angle = std::numbers::pi * (static_cast<double>(s * s) / static_cast<double>(n) - 0.25);
      const double off = std::abs(results - std::polar(std::sqrt(static_cast<double>(n)), angle) * inputs) / static_cast<double>(n);
      if (std::isnan(off)) return off;
      most = std::max(most, off);
    }
    return most;
  }

  static std::size_t fork_depth(std::size_t length) {
    if (length <= leaf) return 0;
    std::size_t halvings = 0;
    for (std::size_t pieces = length / 4; pieces > piece; pieces /= 2) ++halvings;
    return std::max(halvings, 3 + fork_depth(length / 4));
  }

  std::array<complex, leaf> leaf_roots_{};  // e^(−πik/half) at half + k
  std::vector<three> roots_;                // of the longest transform, then of the next, ...
  std::array<const three*, 64> roots_of_{};
};

}  // namespace bench
