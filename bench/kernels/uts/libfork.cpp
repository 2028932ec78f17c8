#include "../../runtimes/libfork.hpp"

#include <vector>

#include "uts.hpp"

namespace {

constexpr auto walk = [](auto self, const bench::tree* tree, const bench::node* at) -> lf::task<bench::extent> {
  const std::size_t count = tree->children_of(*at);
  if (count == 0) co_return bench::extent::leaf(*at);

  std::vector<bench::branch> branches(count);
  for (std::size_t i = 0; i < count; ++i) {
    bench::branch& branch = branches[i];
    branch.child = at->child(i);
    if (i + 1 < count)
      co_await lf::fork(&branch.found, self)(tree, &branch.child);
    else
      co_await lf::call(&branch.found, self)(tree, &branch.child);
  }
  co_await lf::join;

  auto result = bench::extent::inner(*at);
  for (const bench::branch& branch : branches) result.add(branch.found);
  co_return result;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::uts_problem, bench::libfork_runtime>(argc, argv, "libfork", [](auto& on, auto& problem) {
    const bench::node root = problem.which.root();
    problem.answer = lf::sync_wait(on.pool, walk, &problem.which, &root);
  });
}
