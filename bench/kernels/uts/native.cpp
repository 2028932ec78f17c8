#include <vector>

#include "../../runtimes/nopal_invoke.hpp"
#include "uts.hpp"

namespace {

bench::extent walk(const bench::tree& tree, const bench::node& at);

// The children in [first, last), of which there is one at least.
void walk_each(const bench::tree& tree, bench::branch* first, bench::branch* last) {
  if (last - first == 1) {
    first->found = walk(tree, first->child);
    return;
  }
  bench::branch* const middle = first + (last - first) / 2;
  bench::invoke([&] { walk_each(tree, first, middle); }, [&] { walk_each(tree, middle, last); });
}

bench::extent walk(const bench::tree& tree, const bench::node& at) {
  const std::size_t count = tree.children_of(at);
  if (count == 0) return bench::extent::leaf(at);

  std::vector<bench::branch> branches(count);
  for (std::size_t i = 0; i < count; ++i) branches[i].child = at.child(i);
  walk_each(tree, branches.data(), branches.data() + count);

  auto result = bench::extent::inner(at);
  for (const bench::branch& branch : branches) result.add(branch.found);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::uts_problem, bench::deep_nopal_runtime>(argc, argv, bench::invoke_name, [](auto& on, auto& problem) {
    const bench::node root = problem.which.root();
    problem.answer = on.pool.run([&] { return walk(problem.which, root); });
  });
}
