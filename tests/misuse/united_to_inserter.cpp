// expect: nopal: threads write the results at once, each to an object at its place
#include <iterator>
#include <nopal/nopal.hpp>
#include <vector>

void unite(std::vector<int>& a, std::vector<int>& b, std::vector<int>& out) { nopal::set_union(a, b, std::back_inserter(out)); }
