// expect: nopal: threads write the results at once, each to an object at its place
#include <iterator>
#include <nopal/nopal.hpp>
#include <vector>

void fill(std::vector<int>& v) { nopal::fill_n(std::back_inserter(v), 5, 1); }
