// expect: nopal: parallel_for goes from one number to another
#include <vector>
#include <nopal/nopal.hpp>

void loop(std::vector<int>& v) {
  nopal::parallel_for(v, [](int& x) { ++x; });
}
