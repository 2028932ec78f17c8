#include "../../runtimes/nopal.hpp"
#include "quicksort.hpp"

namespace {

void sort(std::int32_t* first, std::int32_t* last) {
  if (last - first <= bench::quicksort_problem::leaf) return bench::insertion_sort(first, last);
  std::int32_t* const middle = bench::partition(first, last);
  nopal::parallel_invoke([&] { sort(first, middle); }, [&] { sort(middle, last); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::quicksort_problem, bench::nopal_runtime>(
      argc, argv, "native", [](auto& on, auto& problem) { on.pool.run([&] { sort(problem.begin(), problem.end()); }); });
}
