// expect: nopal: threads write the elements at once, so each must be an object of its own.
#include <nopal/nopal.hpp>
#include <vector>

void sort(std::vector<bool>& v) { nopal::sort(v); }
