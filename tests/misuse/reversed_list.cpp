// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
#include <list>
#include <nopal/nopal.hpp>

void reverse(std::list<int>& l) { nopal::reverse(l.begin(), l.end()); }
