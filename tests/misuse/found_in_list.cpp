// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
#include <list>
#include <nopal/nopal.hpp>

bool holds(std::list<int>& l) { return nopal::find(l, 3) == l.end(); }
