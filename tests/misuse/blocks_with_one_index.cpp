// expect: nopal: parallel_for_blocks calls its body with the two ends of a block: [&](auto first, auto last) { ... }
#include <nopal/nopal.hpp>

void loop() {
  nopal::parallel_for_blocks(0, 10, [](int) {});
}
