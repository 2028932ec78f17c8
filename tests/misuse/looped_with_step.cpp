// expect: nopal: parallel_for has no step.
#include <nopal/nopal.hpp>

void loop() {
  nopal::parallel_for(0, 10, 2, [](int) {});
}
