// expect: nopal: parallel_for counts whole numbers of at most 64 bits.
#include <nopal/nopal.hpp>
#include <vector>

void loop(std::vector<int>& v) {
  nopal::parallel_for(v.begin(), v.end(), [](int& x) { ++x; });
}
