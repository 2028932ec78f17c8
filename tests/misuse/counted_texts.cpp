// expect: nopal: iota counts in numbers or in iterators of random access
#include <nopal/nopal.hpp>
#include <string>
#include <vector>

void count(std::vector<std::string>& v) { nopal::iota(v, std::string{"a"}); }
