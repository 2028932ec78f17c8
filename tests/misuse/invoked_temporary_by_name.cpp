// expect: nopal: parallel_invoke calls each of its arguments as it was given and without arguments.
#include <nopal/nopal.hpp>

struct once {
  void operator()() && {}
};

void parent() {
  once f;
  nopal::parallel_invoke([] {}, f);
}
