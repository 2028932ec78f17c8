#include "../../runtimes/nopal.hpp"
#include "quicksort.hpp"

namespace {

nopal::task<void> sort(std::int32_t* first, std::int32_t* last) {
  if (last - first <= bench::quicksort_problem::leaf) {
    bench::insertion_sort(first, last);
    co_return;
  }
  std::int32_t* const middle = bench::partition(first, last);
  co_await nopal::fork(sort, first, middle);
  co_await nopal::call(sort, middle, last);
  co_await nopal::join;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::quicksort_problem, bench::nopal_runtime>(
      argc, argv, "task", [](auto& on, auto& problem) { on.pool.run(sort, problem.begin(), problem.end()); });
}
