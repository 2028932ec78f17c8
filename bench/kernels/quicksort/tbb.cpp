#include "../../runtimes/tbb.hpp"

#include "quicksort.hpp"

namespace {

void sort(std::int32_t* first, std::int32_t* last) {
  if (last - first <= bench::quicksort_problem::leaf) return bench::insertion_sort(first, last);
  std::int32_t* const middle = bench::partition(first, last);
  tbb::task_group group;
  group.run([&] { sort(first, middle); });
  sort(middle, last);
  group.wait();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::quicksort_problem, bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, auto& problem) { on.arena.execute([&] { sort(problem.begin(), problem.end()); }); });
}
