// expect: nopal: parallel_for goes from one number to another
#include <nopal/nopal.hpp>
#include <vector>

void loop(std::vector<int>& v) {
  nopal::parallel_for(v, [](int& x) { ++x; });
}
