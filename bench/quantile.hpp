#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench {

// Of numbers in ascending order, at least one, the number below which this part of them is: 0.5 is the median.
[[nodiscard]] inline double quantile(const std::vector<double>& sorted, double part) {
  const auto index = static_cast<std::size_t>(part * static_cast<double>(sorted.size()));
  return sorted[std::min(index, sorted.size() - 1)];
}

}  // namespace bench
