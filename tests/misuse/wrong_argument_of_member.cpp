// expect: nopal: the function cannot be called with these arguments.
#include <nopal/nopal.hpp>

struct object {
  int method(int n) const;
};

int from_outside(nopal::pool& pool, object const& o) { return pool.submit(&object::method, o, "one").get(); }
