#include "mixed.hpp"

#include <algorithm>
#include <execution>

void mixed::sort_there(std::vector<int>& v) { std::sort(std::execution::par, v.begin(), v.end(), mixed::is_less{}); }
