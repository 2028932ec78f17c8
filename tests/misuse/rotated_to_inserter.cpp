// expect: nopal: threads write the results at once, each to an object at its place
#include <iterator>
#include <nopal/nopal.hpp>
#include <vector>

void rotate(std::vector<int>& v, std::vector<int>& out) { nopal::rotate_copy(v, v.begin() + 1, std::back_inserter(out)); }
