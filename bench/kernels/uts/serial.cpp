#include <vector>

#include "../../runtimes/serial.hpp"
#include "uts.hpp"

namespace {

bench::extent walk(const bench::tree& tree, const bench::node& at) {
  const std::size_t count = tree.children_of(at);
  if (count == 0) return bench::extent::leaf(at);

  std::vector<bench::branch> branches(count);
  for (std::size_t i = 0; i < count; ++i) {
    branches[i].child = at.child(i);
    branches[i].found = walk(tree, branches[i].child);
  }

  auto result = bench::extent::inner(at);
  for (const bench::branch& branch : branches) result.add(branch.found);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::uts_problem, bench::serial_runtime>(
      argc, argv, "serial", [](auto&, auto& problem) { problem.answer = walk(problem.which, problem.which.root()); });
}
