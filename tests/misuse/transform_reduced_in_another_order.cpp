// expect: nopal: transform_reduce takes first the operation that joins two results
#include <functional>
#include <nopal/nopal.hpp>
#include <vector>

double sum(std::vector<double> const& v) {
  return nopal::transform_reduce(v, 0.0, [](double x) { return x * x; }, std::plus<>{});
}
