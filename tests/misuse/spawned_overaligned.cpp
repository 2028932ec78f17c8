// expect: nopal: a fiber's closure is aligned to at most 16 bytes. Capture a pointer to what needs more.
#include <nopal/nopal.hpp>

struct alignas(64) line {
  int words[16];
};

void parent(line const& l) {
  nopal::spawn([l] { (void)l; });
}
