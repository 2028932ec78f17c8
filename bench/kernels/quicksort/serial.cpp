#include "../../runtimes/serial.hpp"
#include "quicksort.hpp"

namespace {

void sort(std::int32_t* first, std::int32_t* last) {
  if (last - first <= bench::quicksort_problem::leaf) return bench::insertion_sort(first, last);
  std::int32_t* const middle = bench::partition(first, last);
  sort(first, middle);
  sort(middle, last);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::quicksort_problem, bench::serial_runtime>(argc, argv, "serial",
                                                                     [](auto&, auto& problem) { sort(problem.begin(), problem.end()); });
}
