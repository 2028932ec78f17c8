// expect: nopal: threads write the elements at once, so each must be an object of its own
#include <nopal/nopal.hpp>
#include <vector>

void swap(std::vector<char>& v, std::vector<bool>& bits) { nopal::swap_ranges(v, bits); }
