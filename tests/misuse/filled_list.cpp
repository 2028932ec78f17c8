// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
#include <list>
#include <nopal/nopal.hpp>

void fill(std::list<int>& l) { nopal::fill(l, 1); }
