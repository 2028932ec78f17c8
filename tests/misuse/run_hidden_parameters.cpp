// expect: nopal: the parameters of this callable cannot be seen, because it is overloaded or a template.
#include <nopal/nopal.hpp>
#include <string>

struct overloaded {
  nopal::task<int> operator()(int) const { co_return 1; }
  nopal::task<int> operator()(std::string const&) const { co_return 2; }
};

int from_outside(nopal::pool& pool) { return pool.run(overloaded{}, "it would be converted to a temporary std::string"); }
