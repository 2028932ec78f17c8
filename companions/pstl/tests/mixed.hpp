#pragma once

// What both sources of the program call, with the same types.

#include <vector>

namespace mixed {

/// Notes whether it is called by a worker of nopal.
struct is_less {
  bool operator()(int a, int b) const;
};

/// Sorts with std::execution::par, in the source that does not include <nopal/pstl.hpp>.
void sort_there(std::vector<int>& v);

}  // namespace mixed
