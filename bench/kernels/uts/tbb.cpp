#include "../../runtimes/tbb.hpp"

#include <vector>

#include "uts.hpp"

namespace {

bench::extent walk(const bench::tree& tree, const bench::node& at) {
  const std::size_t count = tree.children_of(at);
  if (count == 0) return bench::extent::leaf(at);

  std::vector<bench::branch> branches(count);
  tbb::task_group group;
  for (std::size_t i = 0; i < count; ++i) {
    bench::branch& branch = branches[i];
    branch.child = at.child(i);
    if (i + 1 < count)
      group.run([&tree, &branch] { branch.found = walk(tree, branch.child); });
    else
      branch.found = walk(tree, branch.child);
  }
  group.wait();

  auto result = bench::extent::inner(at);
  for (const bench::branch& branch : branches) result.add(branch.found);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::uts_problem, bench::tbb_runtime>(argc, argv, "tbb", [](auto& on, auto& problem) {
    on.arena.execute([&] { problem.answer = walk(problem.which, problem.which.root()); });
  });
}
