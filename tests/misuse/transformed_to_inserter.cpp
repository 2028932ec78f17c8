// expect: nopal: threads write the results at once, each to an object at its place: give an iterator of random access
#include <functional>
#include <iterator>
#include <nopal/nopal.hpp>
#include <vector>

void negate(std::vector<int> const& v, std::vector<int>& out) { nopal::transform(v, std::back_inserter(out), std::negate<>{}); }
