#include "cholesky.hpp"

#include "../runtimes/runtime.hpp"

namespace {

using bench::as_block;
using bench::as_quarters;
using bench::quadtree;

#if defined(NOPAL_BENCH_TASK)
using task = nopal::task<void>;

// m −= x·yᵀ.
task subtract_product(quadtree*& m, quadtree* x, quadtree* y, std::size_t depth) {
  if (x == nullptr || y == nullptr) co_return;
  if (m == nullptr) m = bench::make_quadtree(depth);
  if (depth == 0) {
    bench::subtract_block(as_block(m), as_block(x), as_block(y));
    co_return;
  }
  auto& to = as_quarters(m).at;
  const auto& a = as_quarters(x).at;
  const auto& b = as_quarters(y).at;
  for (std::size_t k = 0; k < 2; ++k) {
    co_await nopal::fork(subtract_product, to[0], a[k], b[k], depth - 1);
    co_await nopal::fork(subtract_product, to[1], a[k], b[2 + k], depth - 1);
    co_await nopal::fork(subtract_product, to[2], a[2 + k], b[k], depth - 1);
    co_await nopal::call(subtract_product, to[3], a[2 + k], b[2 + k], depth - 1);
    co_await nopal::join;
  }
}

// The lower triangle of m −= x·xᵀ.
task subtract_square(quadtree*& m, quadtree* x, std::size_t depth) {
  if (x == nullptr) co_return;
  if (m == nullptr) m = bench::make_quadtree(depth);
  if (depth == 0) {
    bench::subtract_block(as_block(m), as_block(x), as_block(x));
    co_return;
  }
  auto& to = as_quarters(m).at;
  const auto& a = as_quarters(x).at;
  for (std::size_t k = 0; k < 2; ++k) {
    co_await nopal::fork(subtract_square, to[0], a[k], depth - 1);
    co_await nopal::fork(subtract_product, to[2], a[2 + k], a[k], depth - 1);
    co_await nopal::call(subtract_square, to[3], a[2 + k], depth - 1);
    co_await nopal::join;
  }
}

// m = m·L⁻ᵀ: the halves of its rows are independent; in each, the right quarter follows the left.
task solve(quadtree* m, quadtree* l, std::size_t depth);
task solve_half(quadtree*& left, quadtree*& right, quadtree* l, std::size_t depth) {
  const auto& by = as_quarters(l).at;
  co_await nopal::call(solve, left, by[0], depth);
  co_await nopal::call(subtract_product, right, left, by[2], depth);
  co_await nopal::call(solve, right, by[3], depth);
}
task solve(quadtree* m, quadtree* l, std::size_t depth) {
  if (m == nullptr) co_return;
  if (depth == 0) {
    bench::solve_block(as_block(m), as_block(l));
    co_return;
  }
  auto& to = as_quarters(m).at;
  co_await nopal::fork(solve_half, to[0], to[1], l, depth - 1);
  co_await nopal::call(solve_half, to[2], to[3], l, depth - 1);
  co_await nopal::join;
}

task factor(quadtree* m, std::size_t depth) {
  if (m == nullptr) co_return;
  if (depth == 0) {
    bench::factor_block(as_block(m));
    co_return;
  }
  auto& q = as_quarters(m).at;
  co_await nopal::call(factor, q[0], depth - 1);
  co_await nopal::call(solve, q[2], q[0], depth - 1);
  co_await nopal::call(subtract_square, q[3], q[2], depth - 1);
  co_await nopal::call(factor, q[3], depth - 1);
}
#else
// m −= x·yᵀ.
void subtract_product(quadtree*& m, quadtree* x, quadtree* y, std::size_t depth) {
  if (x == nullptr || y == nullptr) return;
  if (m == nullptr) m = bench::make_quadtree(depth);
  if (depth == 0) return bench::subtract_block(as_block(m), as_block(x), as_block(y));
  auto& to = as_quarters(m).at;
  const auto& a = as_quarters(x).at;
  const auto& b = as_quarters(y).at;
  bench::invoker invoke;
  invoke([&] { subtract_product(to[0], a[0], b[0], depth - 1); }, [&] { subtract_product(to[1], a[0], b[2], depth - 1); },
         [&] { subtract_product(to[2], a[2], b[0], depth - 1); }, [&] { subtract_product(to[3], a[2], b[2], depth - 1); });
  invoke([&] { subtract_product(to[0], a[1], b[1], depth - 1); }, [&] { subtract_product(to[1], a[1], b[3], depth - 1); },
         [&] { subtract_product(to[2], a[3], b[1], depth - 1); }, [&] { subtract_product(to[3], a[3], b[3], depth - 1); });
}

// The lower triangle of m −= x·xᵀ.
void subtract_square(quadtree*& m, quadtree* x, std::size_t depth) {
  if (x == nullptr) return;
  if (m == nullptr) m = bench::make_quadtree(depth);
  if (depth == 0) return bench::subtract_block(as_block(m), as_block(x), as_block(x));
  auto& to = as_quarters(m).at;
  const auto& a = as_quarters(x).at;
  bench::invoker invoke;
  invoke([&] { subtract_square(to[0], a[0], depth - 1); }, [&] { subtract_product(to[2], a[2], a[0], depth - 1); },
         [&] { subtract_square(to[3], a[2], depth - 1); });
  invoke([&] { subtract_square(to[0], a[1], depth - 1); }, [&] { subtract_product(to[2], a[3], a[1], depth - 1); },
         [&] { subtract_square(to[3], a[3], depth - 1); });
}

// m = m·L⁻ᵀ: the halves of its rows are independent; in each, the right quarter follows the left.
void solve(quadtree* m, quadtree* l, std::size_t depth);
void solve_half(quadtree*& left, quadtree*& right, quadtree* l, std::size_t depth) {
  const auto& by = as_quarters(l).at;
  solve(left, by[0], depth);
  subtract_product(right, left, by[2], depth);
  solve(right, by[3], depth);
}
void solve(quadtree* m, quadtree* l, std::size_t depth) {
  if (m == nullptr) return;
  if (depth == 0) return bench::solve_block(as_block(m), as_block(l));
  auto& to = as_quarters(m).at;
  bench::invoker invoke;
  invoke([&] { solve_half(to[0], to[1], l, depth - 1); }, [&] { solve_half(to[2], to[3], l, depth - 1); });
}

void factor(quadtree* m, std::size_t depth) {
  if (m == nullptr) return;
  if (depth == 0) return bench::factor_block(as_block(m));
  auto& q = as_quarters(m).at;
  factor(q[0], depth - 1);
  solve(q[2], q[0], depth - 1);
  subtract_square(q[3], q[2], depth - 1);
  factor(q[3], depth - 1);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::cholesky_problem>(argc, argv,
                                                    [](auto& on, auto& problem) { on.run(factor, problem.root, problem.depth); });
}
