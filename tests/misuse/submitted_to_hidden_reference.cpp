// expect: nopal::pool::submit and detach: the parameters of this callable cannot be seen, because it is overloaded or a template, so the job copies its arguments, and it does not take the copies. Write std::ref(x)
#include <nopal/nopal.hpp>

struct overloaded {
  void operator()(int& n) const { ++n; }
  void operator()(long& n) const { ++n; }
};

void from_outside(nopal::pool& pool) {
  int n = 0;
  pool.submit(overloaded{}, n).get();
}
