// Draws the Mandelbrot set, and prints its progress: the worker that draws the last pixel of a tenth prints. The time of a pixel varies a
// thousandfold, and the program does not say how to share pixels out: parallel_for in two dimensions splits the rest whenever a worker has
// nothing to do.
// Work Θ(pixels · iterations) at most, span O(iterations + log pixels).

#include <nopal/algorithm/parallel_for.hpp>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <vector>

constexpr int width = 360, height = 240, most = 1000;

/// How many steps z ← z² + c takes to leave the circle of radius 2, as a grey.
unsigned char shade(int row, int column) {
  double const x = -2.25 + 3.0 * column / width, y = -1.0 + 2.0 * row / height;
  double a = 0, b = 0;
  for (int i = 0; i < most; ++i) {
    if (a * a + b * b > 4) return static_cast<unsigned char>(255 - i % 64 * 3);
    double const next = a * a - b * b + x;
    b = 2 * a * b + y;
    a = next;
  }
  return 0;
}

int main(int argc, char** argv) {
  std::vector<unsigned char> picture(std::size_t{width} * height);
  std::atomic<int> drawn{0};
  nopal::parallel_for(0, height, 0, width, [&](int row, int column) {
    picture[static_cast<std::size_t>(row * width + column)] = shade(row, column);
    int const so_far = drawn.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: a count; nothing else is read because of it
    if (so_far % (width * height / 10) == 0) std::fprintf(stderr, "%d %%\n", so_far / (width * height / 100));
  });

  char const* const name = argc > 1 ? argv[1] : "mandelbrot.pgm";
  std::ofstream file{name, std::ios::binary};
  file << "P5 " << width << ' ' << height << " 255\n";
  file.write(reinterpret_cast<char const*>(picture.data()), static_cast<std::streamsize>(picture.size()));
  if (!file.flush()) return std::printf("cannot write %s\n", name), 1;
  std::printf("%s: %d x %d\n", name, width, height);

  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      if (picture[static_cast<std::size_t>(row * width + column)] != shade(row, column)) return 1;
    }
  }
  return 0;
}
