#include "../../runtimes/libfork.hpp"
#include "integrate.hpp"

namespace {

constexpr auto integrate = [](auto self, bench::interval whole) -> lf::task<double> {
  const bench::halves half{whole};
  if (half.close) co_return half.left.area + half.right.area;
  double a = 0;
  double b = 0;
  co_await lf::fork(&a, self)(half.left);
  co_await lf::call(&b, self)(half.right);
  co_await lf::join;
  co_return a + b;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::libfork_runtime>(argc, argv, "libfork", [](auto& on, auto& problem) {
    problem.answer = lf::sync_wait(on.pool, integrate, problem.whole());
  });
}
