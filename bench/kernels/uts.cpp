#include <vector>

#include "uts.hpp"

#include "../runtimes/runtime.hpp"

namespace {

// With NOPAL_BENCH_STACK a node's children are on the segmented stack instead of the heap.
#if defined(NOPAL_BENCH_TASK)
nopal::task<bench::extent> walk(const bench::tree& tree, const bench::node& at) {
  const std::size_t count = tree.children_of(at);
  if (count == 0) co_return bench::extent::leaf(at);

#if defined(NOPAL_BENCH_STACK)
  auto branches = co_await nopal::stack_array<bench::branch>(count);
#else
  std::vector<bench::branch> branches(count);
#endif
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
#elif defined(NOPAL_BENCH_LIBFORK)
constexpr auto walk = [](auto self, const bench::tree* tree, const bench::node* at) -> lf::task<bench::extent> {
  const std::size_t count = tree->children_of(*at);
  if (count == 0) co_return bench::extent::leaf(*at);

#if defined(NOPAL_BENCH_STACK)
  auto [branches] = co_await lf::co_new<bench::branch>(count);
#else
  std::vector<bench::branch> branches(count);
#endif
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
#elif defined(NOPAL_BENCH_OPENMP)
bench::extent walk(const bench::tree& tree, const bench::node& at) {
  const std::size_t count = tree.children_of(at);
  if (count == 0) return bench::extent::leaf(at);

  std::vector<bench::branch> branches(count);
  for (std::size_t i = 0; i < count; ++i) {
    bench::branch& branch = branches[i];
    branch.child = at.child(i);
    if (i + 1 < count) {
#pragma omp task shared(tree, branch)
      branch.found = walk(tree, branch.child);
    } else {
      branch.found = walk(tree, branch.child);
    }
  }
#pragma omp taskwait

  auto result = bench::extent::inner(at);
  for (const bench::branch& branch : branches) result.add(branch.found);
  return result;
}
#elif defined(NOPAL_BENCH_NATIVE) || defined(NOPAL_BENCH_SCOPE)
bench::extent walk(const bench::tree& tree, const bench::node& at);

// The children in [first, last), of which there is one at least.
void walk_each(const bench::tree& tree, bench::branch* first, bench::branch* last) {
  if (last - first == 1) {
    first->found = walk(tree, first->child);
    return;
  }
  bench::branch* const middle = first + (last - first) / 2;
  bench::invoker invoke;
  invoke([&] { walk_each(tree, first, middle); }, [&] { walk_each(tree, middle, last); });
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
#else
bench::extent walk(const bench::tree& tree, const bench::node& at, auto&... on) {
  const std::size_t count = tree.children_of(at);
  if (count == 0) return bench::extent::leaf(at);

  std::vector<bench::branch> branches(count);
  bench::group children{on...};
  for (std::size_t i = 0; i < count; ++i) {
    bench::branch& branch = branches[i];
    branch.child = at.child(i);
    if (i + 1 < count)
      children.fork([&] { branch.found = walk(tree, branch.child, on...); });
    else
      branch.found = walk(tree, branch.child, on...);
  }
  children.join();

  auto result = bench::extent::inner(at);
  for (const bench::branch& branch : branches) result.add(branch.found);
  return result;
}
#endif

#if defined(NOPAL_BENCH_NATIVE)  // whose forks nest on one stack; each fork of a scope takes another
using runtime = bench::deep_nopal_runtime;
#else
using runtime = bench::runtime;
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::uts_problem, runtime>(argc, argv, [](auto& on, auto& problem) {
    const bench::node root = problem.which.root();
#if defined(NOPAL_BENCH_TASK)
    problem.answer = on.run(walk, problem.which, root);
#elif defined(NOPAL_BENCH_LIBFORK)
    problem.answer = on.run(walk, &problem.which, &root);
#else
    on.run([&](auto&... more) { problem.answer = walk(problem.which, root, more...); });
#endif
  });
}
