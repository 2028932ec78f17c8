// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
#include <list>
#include <nopal/nopal.hpp>

void each(std::list<int>& l) {
  nopal::for_each(l.begin(), l.end(), [](int& x) { ++x; });
}
