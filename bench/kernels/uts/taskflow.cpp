#include "../../runtimes/taskflow.hpp"

#include <vector>

#include "uts.hpp"

namespace {

bench::extent walk(tf::Executor& executor, const bench::tree& tree, const bench::node& at) {
  const std::size_t count = tree.children_of(at);
  if (count == 0) return bench::extent::leaf(at);

  std::vector<bench::branch> branches(count);
  tf::TaskGroup group = executor.task_group();
  for (std::size_t i = 0; i < count; ++i) {
    bench::branch& branch = branches[i];
    branch.child = at.child(i);
    if (i + 1 < count)
      group.silent_async([&executor, &tree, &branch] { branch.found = walk(executor, tree, branch.child); });
    else
      branch.found = walk(executor, tree, branch.child);
  }
  group.corun();

  auto result = bench::extent::inner(at);
  for (const bench::branch& branch : branches) result.add(branch.found);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::uts_problem, bench::taskflow_runtime>(argc, argv, "taskflow", [](auto& on, auto& problem) {
    on.run([&] { problem.answer = walk(on.executor, problem.which, problem.which.root()); });
  });
}
