#include "../../runtimes/nopal_invoke.hpp"
#include "rectmul.hpp"

namespace {

void multiply(const bench::rectangle& at) {
  if (at.is_leaf()) return at.multiply();
  const bench::rectangle_halves half{at};
  bench::invoke([&] { multiply(half.first); }, [&] { multiply(half.second); });
  half.add();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::rectmul_problem, bench::nopal_runtime>(
      argc, argv, bench::invoke_name, [](auto& on, auto& problem) { on.pool.run([&] { multiply(bench::whole(problem)); }); });
}
