#pragma once

// The transforms that FFTW's test and times make.

#include <fftw3.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace test {

using number = std::complex<double>;

/// A square of numbers of side `n`, the same in each run.
inline std::vector<number> square(int n) {
  std::vector<number> x(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  unsigned state = 1;
  for (number& v : x) {
    state = state * 1664525u + 1013904223u;
    v = {static_cast<double>(state >> 8), static_cast<double>(state & 0xffff)};
  }
  return x;
}

inline fftw_complex* raw(std::vector<number>& x) { return reinterpret_cast<fftw_complex*>(x.data()); }

struct destroy_plan {
  void operator()(fftw_plan p) const { fftw_destroy_plan(p); }
};
using plan = std::unique_ptr<std::remove_pointer_t<fftw_plan>, destroy_plan>;

/// A plan, in place, for squares of side `n`, in so many parts. One thread at a time.
inline plan make_plan(int n, int parts, unsigned how = FFTW_ESTIMATE) {
  std::vector<number> x(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  fftw_plan_with_nthreads(parts);
  return plan{fftw_plan_dft_2d(n, n, raw(x), raw(x), FFTW_FORWARD, how | FFTW_UNALIGNED)};
}

/// What the plan makes of it. Any number of threads at once.
inline std::vector<number> transformed(plan const& p, std::vector<number> x) {
  fftw_execute_dft(p.get(), raw(x), raw(x));
  return x;
}

/// Whether both are the same but for rounding: plans differ in the order of their sums.
inline bool near(std::vector<number> const& a, std::vector<number> const& b) {
  double largest = 0, worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    largest = std::max(largest, std::abs(b[k]));
    worst = std::max(worst, std::abs(a[k] - b[k]));
  }
  return worst < 1e-12 * largest;
}

}  // namespace test
