#include "../../runtimes/nopal_invoke.hpp"
#include "quicksort.hpp"

namespace {

void sort(std::int32_t* first, std::int32_t* last) {
  if (last - first <= bench::quicksort_problem::leaf) return bench::insertion_sort(first, last);
  std::int32_t* const middle = bench::partition(first, last);
  bench::invoke([&] { sort(first, middle); }, [&] { sort(middle, last); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::quicksort_problem, bench::nopal_runtime>(
      argc, argv, bench::invoke_name, [](auto& on, auto& problem) { on.pool.run([&] { sort(problem.begin(), problem.end()); }); });
}
