// expect: nopal: parallel_for goes from one number to another
#include <nopal/nopal.hpp>

void loop() {
  nopal::parallel_for(10, [](int) {});
}
