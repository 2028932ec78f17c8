#include "../../runtimes/tbb.hpp"

#include "rectmul.hpp"

namespace {

void multiply(const bench::rectangle& at) {
  if (at.is_leaf()) return at.multiply();
  const bench::rectangle_halves half{at};
  tbb::task_group group;
  group.run([&] { multiply(half.first); });
  multiply(half.second);
  group.wait();
  half.add();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::rectmul_problem, bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, auto& problem) { on.arena.execute([&] { multiply(bench::whole(problem)); }); });
}
