// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
#include <list>
#include <nopal/nopal.hpp>

void visit(std::list<int>& l) {
  nopal::for_each_n(l.begin(), 5, [](int& x) { ++x; });
}
