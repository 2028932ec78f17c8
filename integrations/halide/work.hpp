#pragma once

// The pictures that Halide's test and times blur.

#include <HalideBuffer.h>

#include <cstring>

#include "blur.h"

namespace test {

using picture = Halide::Runtime::Buffer<float, 2>;

/// The same in each run.
inline picture noise(int width, int height) {
  picture p{width, height};
  unsigned state = 1;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      state = state * 1664525u + 1013904223u;
      p(x, y) = static_cast<float>(state >> 8);
    }
  }
  return p;
}

/// What the pipeline makes of it; any number of threads at once.
inline picture blurred(picture& p) {
  picture out{p.width(), p.height()};
  if (blur(p.raw_buffer(), out.raw_buffer()) != 0) return {};
  return out;
}

inline bool same(picture const& a, picture const& b) {
  return a.number_of_elements() == b.number_of_elements() && std::memcmp(a.data(), b.data(), a.size_in_bytes()) == 0;
}

}  // namespace test
