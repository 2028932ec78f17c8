#include "integrate.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_TASK)
nopal::task<double> integrate(double x1, double y1, double x2, double y2, double area) {
  const bench::halves at{x1, y1, x2, y2, area};
  if (at.close) co_return at.left + at.right;
  double a = 0;
  double b = 0;
  co_await nopal::fork(&a, integrate, x1, y1, at.x, at.y, at.left);
  co_await nopal::call(&b, integrate, at.x, at.y, x2, y2, at.right);
  co_await nopal::join;
  co_return a + b;
}
#elif defined(NOPAL_BENCH_LIBFORK)
constexpr auto integrate = [](auto self, double x1, double y1, double x2, double y2, double area) -> lf::task<double> {
  const bench::halves at{x1, y1, x2, y2, area};
  if (at.close) co_return at.left + at.right;
  double a = 0;
  double b = 0;
  co_await lf::fork(&a, self)(x1, y1, at.x, at.y, at.left);
  co_await lf::call(&b, self)(at.x, at.y, x2, y2, at.right);
  co_await lf::join;
  co_return a + b;
};
#elif defined(NOPAL_BENCH_OPENMP)
double integrate(double x1, double y1, double x2, double y2, double area) {
  const bench::halves at{x1, y1, x2, y2, area};
  if (at.close) return at.left + at.right;
  double a = 0;
#pragma omp task shared(a, x1, y1, at)
  a = integrate(x1, y1, at.x, at.y, at.left);
  const double b = integrate(at.x, at.y, x2, y2, at.right);
#pragma omp taskwait
  return a + b;
}
#elif defined(NOPAL_BENCH_NATIVE) || defined(NOPAL_BENCH_SCOPE)
double integrate(double x1, double y1, double x2, double y2, double area) {
  const bench::halves at{x1, y1, x2, y2, area};
  if (at.close) return at.left + at.right;
  double a = 0;
  double b = 0;
  bench::invoker invoke;
  invoke([&] { a = integrate(x1, y1, at.x, at.y, at.left); }, [&] { b = integrate(at.x, at.y, x2, y2, at.right); });
  return a + b;
}
#else
double integrate(double x1, double y1, double x2, double y2, double area, auto&... on) {
  const bench::halves at{x1, y1, x2, y2, area};
  if (at.close) return at.left + at.right;
  double a = 0;
  bench::group children{on...};
  children.fork([&a, x1, y1, at, &on...] { a = integrate(x1, y1, at.x, at.y, at.left, on...); });
  const double b = integrate(at.x, at.y, x2, y2, at.right, on...);
  children.join();
  return a + b;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::integrate_problem>(argc, argv, [](auto& on, auto& problem) {
#if defined(NOPAL_BENCH_COROUTINES)
    problem.answer = problem.whole([&](auto... interval) { return on.run(integrate, interval...); });
#else
    on.run([&](auto&... more) { problem.answer = problem.whole([&](auto... interval) { return integrate(interval..., more...); }); });
#endif
  });
}
