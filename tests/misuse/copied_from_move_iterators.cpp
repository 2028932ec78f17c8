// expect: nopal: a std::move_iterator has no random access in C++20.
#include <iterator>
#include <nopal/nopal.hpp>
#include <string>
#include <vector>

void take(std::vector<std::string>& v, std::vector<std::string>& out) {
  nopal::transform(std::make_move_iterator(v.begin()), std::make_move_iterator(v.end()), out.begin(), [](std::string s) { return s; });
}
