#include "quicksort.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_TASK)
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
#else
void sort(std::int32_t* first, std::int32_t* last) {
  if (last - first <= bench::quicksort_problem::leaf) return bench::insertion_sort(first, last);
  std::int32_t* const middle = bench::partition(first, last);
  bench::invoker invoke;
  invoke([&] { sort(first, middle); }, [&] { sort(middle, last); });
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::quicksort_problem>(argc, argv,
                                                     [](auto& on, auto& problem) { on.run(sort, problem.begin(), problem.end()); });
}
