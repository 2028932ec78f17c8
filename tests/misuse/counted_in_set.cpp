// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
#include <nopal/nopal.hpp>
#include <set>

auto twice(std::set<int> const& s) { return 2 * nopal::count(s, 3); }
