// expect: nopal: parallel_for_blocks goes from one whole number to another, without a step
#include <nopal/nopal.hpp>

void loop() {
  nopal::parallel_for_blocks(0, 10, 2, [](int, int) {});
}
