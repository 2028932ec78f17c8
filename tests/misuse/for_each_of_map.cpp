// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
#include <map>
#include <nopal/nopal.hpp>

void each(std::map<int, int>& m) {
  nopal::for_each(m, [](auto& x) { ++x.second; });
}
