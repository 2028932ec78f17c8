#include "lu.hpp"

#include "../runtimes/runtime.hpp"

namespace {

using bench::lu_quarters;
using part = bench::lu_problem::part;

#if defined(NOPAL_BENCH_TASK)
using task = nopal::task<void>;

// m −= x·y.
task subtract_product(part m, part x, part y) {
  if (m.rows == 1) {
    bench::subtract_tile(m.first, x.first, y.first);
    co_return;
  }
  const lu_quarters to{m};
  const lu_quarters left{x};
  const lu_quarters right{y};
  co_await nopal::fork(subtract_product, to.m00, left.m00, right.m00);
  co_await nopal::fork(subtract_product, to.m01, left.m00, right.m01);
  co_await nopal::fork(subtract_product, to.m10, left.m10, right.m00);
  co_await nopal::call(subtract_product, to.m11, left.m10, right.m01);
  co_await nopal::join;
  co_await nopal::fork(subtract_product, to.m00, left.m01, right.m10);
  co_await nopal::fork(subtract_product, to.m01, left.m01, right.m11);
  co_await nopal::fork(subtract_product, to.m10, left.m11, right.m10);
  co_await nopal::call(subtract_product, to.m11, left.m11, right.m11);
  co_await nopal::join;
}

// m = L⁻¹·m: the halves of its columns are independent; in each, the lower quarter follows the upper.
task solve_lower(part m, part l);
task solve_lower_half(part upper, part lower, lu_quarters l) {
  co_await nopal::call(solve_lower, upper, l.m00);
  co_await nopal::call(subtract_product, lower, l.m10, upper);
  co_await nopal::call(solve_lower, lower, l.m11);
}
task solve_lower(part m, part l) {
  if (m.rows == 1) {
    bench::solve_lower_tile(m.first, l.first);
    co_return;
  }
  const lu_quarters to{m};
  const lu_quarters by{l};
  co_await nopal::fork(solve_lower_half, to.m00, to.m10, by);
  co_await nopal::call(solve_lower_half, to.m01, to.m11, by);
  co_await nopal::join;
}

// m = m·U⁻¹: the halves of its rows are independent; in each, the right quarter follows the left.
task solve_upper(part m, part u);
task solve_upper_half(part left, part right, lu_quarters u) {
  co_await nopal::call(solve_upper, left, u.m00);
  co_await nopal::call(subtract_product, right, left, u.m01);
  co_await nopal::call(solve_upper, right, u.m11);
}
task solve_upper(part m, part u) {
  if (m.rows == 1) {
    bench::solve_upper_tile(m.first, u.first);
    co_return;
  }
  const lu_quarters to{m};
  const lu_quarters by{u};
  co_await nopal::fork(solve_upper_half, to.m00, to.m01, by);
  co_await nopal::call(solve_upper_half, to.m10, to.m11, by);
  co_await nopal::join;
}

task factor(part m) {
  if (m.rows == 1) {
    bench::factor_tile(m.first);
    co_return;
  }
  const lu_quarters q{m};
  co_await nopal::call(factor, q.m00);
  co_await nopal::fork(solve_lower, q.m01, q.m00);
  co_await nopal::call(solve_upper, q.m10, q.m00);
  co_await nopal::join;
  co_await nopal::call(subtract_product, q.m11, q.m10, q.m01);
  co_await nopal::call(factor, q.m11);
}
#else
// m −= x·y.
void subtract_product(const part& m, const part& x, const part& y) {
  if (m.rows == 1) return bench::subtract_tile(m.first, x.first, y.first);
  const lu_quarters to{m};
  const lu_quarters left{x};
  const lu_quarters right{y};
  bench::invoker invoke;
  invoke([&] { subtract_product(to.m00, left.m00, right.m00); }, [&] { subtract_product(to.m01, left.m00, right.m01); },
         [&] { subtract_product(to.m10, left.m10, right.m00); }, [&] { subtract_product(to.m11, left.m10, right.m01); });
  invoke([&] { subtract_product(to.m00, left.m01, right.m10); }, [&] { subtract_product(to.m01, left.m01, right.m11); },
         [&] { subtract_product(to.m10, left.m11, right.m10); }, [&] { subtract_product(to.m11, left.m11, right.m11); });
}

// m = L⁻¹·m: the halves of its columns are independent; in each, the lower quarter follows the upper.
void solve_lower(const part& m, const part& l);
void solve_lower_half(const part& upper, const part& lower, const lu_quarters& l) {
  solve_lower(upper, l.m00);
  subtract_product(lower, l.m10, upper);
  solve_lower(lower, l.m11);
}
void solve_lower(const part& m, const part& l) {
  if (m.rows == 1) return bench::solve_lower_tile(m.first, l.first);
  const lu_quarters to{m};
  const lu_quarters by{l};
  bench::invoker invoke;
  invoke([&] { solve_lower_half(to.m00, to.m10, by); }, [&] { solve_lower_half(to.m01, to.m11, by); });
}

// m = m·U⁻¹: the halves of its rows are independent; in each, the right quarter follows the left.
void solve_upper(const part& m, const part& u);
void solve_upper_half(const part& left, const part& right, const lu_quarters& u) {
  solve_upper(left, u.m00);
  subtract_product(right, left, u.m01);
  solve_upper(right, u.m11);
}
void solve_upper(const part& m, const part& u) {
  if (m.rows == 1) return bench::solve_upper_tile(m.first, u.first);
  const lu_quarters to{m};
  const lu_quarters by{u};
  bench::invoker invoke;
  invoke([&] { solve_upper_half(to.m00, to.m01, by); }, [&] { solve_upper_half(to.m10, to.m11, by); });
}

void factor(const part& m) {
  if (m.rows == 1) return bench::factor_tile(m.first);
  const lu_quarters q{m};
  factor(q.m00);
  bench::invoker invoke;
  invoke([&] { solve_lower(q.m01, q.m00); }, [&] { solve_upper(q.m10, q.m00); });
  subtract_product(q.m11, q.m10, q.m01);
  factor(q.m11);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::lu_problem>(argc, argv, [](auto& on, auto& problem) { on.run(factor, bench::all_tiles(problem.m)); });
}
