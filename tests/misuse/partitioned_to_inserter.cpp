// expect: nopal: threads write the results at once, each to an object at its place
#include <iterator>
#include <nopal/nopal.hpp>
#include <vector>

void divide(std::vector<int>& v, std::vector<int>& yes, std::vector<int>& no) {
  nopal::partition_copy(v, yes.begin(), std::back_inserter(no), [](int x) { return x > 0; });
}
