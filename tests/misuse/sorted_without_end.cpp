// expect: nopal: this range has no end, so the algorithm would not end either.
#include <iterator>
#include <nopal/nopal.hpp>
#include <vector>

void sort(std::vector<int>& v) { nopal::sort(v.begin(), std::unreachable_sentinel); }
