// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
#include <functional>
#include <list>
#include <nopal/nopal.hpp>
#include <vector>

void add(std::list<int> const& l, std::vector<int>& v) { nopal::transform(v, l, v.begin(), std::plus<>{}); }
