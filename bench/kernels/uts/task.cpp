#include <vector>

#include "../../runtimes/nopal.hpp"
#include "uts.hpp"

namespace {

nopal::task<bench::extent> walk(const bench::tree& tree, const bench::node& at) {
  const std::size_t count = tree.children_of(at);
  if (count == 0) co_return bench::extent::leaf(at);

  std::vector<bench::branch> branches(count);
  for (std::size_t i = 0; i < count; ++i) {
    bench::branch& branch = branches[i];
    branch.child = at.child(i);
    if (i + 1 < count)
      co_await nopal::fork(&branch.found, walk, tree, branch.child);
    else
      co_await nopal::call(&branch.found, walk, tree, branch.child);
  }
  co_await nopal::join;

  auto result = bench::extent::inner(at);
  for (const bench::branch& branch : branches) result.add(branch.found);
  co_return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::uts_problem, bench::nopal_runtime>(argc, argv, "task", [](auto& on, auto& problem) {
    const bench::node root = problem.which.root();
    problem.answer = on.pool.run(walk, problem.which, root);
  });
}
