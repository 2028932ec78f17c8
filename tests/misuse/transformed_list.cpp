// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
#include <functional>
#include <list>
#include <nopal/nopal.hpp>
#include <vector>

void negate(std::list<int> const& l, std::vector<int>& v) { nopal::transform(l, v.begin(), std::negate<>{}); }
