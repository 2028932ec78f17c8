// expect: nopal: parallel_for calls its body with an index: [&](auto i) { ... }
#include <nopal/nopal.hpp>

void loop() {
  nopal::parallel_for(0, 10, [] {});
}
