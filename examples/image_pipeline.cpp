// Pictures pass through a pipeline of fibers: they are made, blurred, and turned into black and white; each stage is a loop over rows that
// is parallel in itself. The channels are short, so that only a few pictures exist at once, for any number of pictures.
// For n pictures of p pixels: work Θ(n p), span O(n (row + log rows)) through the slowest stage.

#include <nopal/algorithm.hpp>
#include <nopal/fiber.hpp>

#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

constexpr int width = 160, height = 120, pictures = 24;

struct picture {
  int number = 0;
  std::vector<int> pixels = std::vector<int>(std::size_t{width} * height);
  int& at(int row, int column) { return pixels[static_cast<std::size_t>(row * width + column)]; }
  int get(int row, int column) const {
    return pixels[static_cast<std::size_t>((row + height) % height * width + (column + width) % width)];
  }
};

picture make(int number) {
  picture p{.number = number};
  nopal::parallel_for(0, height, 0, width, [&](int row, int column) { p.at(row, column) = (row * row + column * number) % 256; });
  return p;
}

picture blur(picture const& from) {
  picture to{.number = from.number};
  nopal::parallel_for(0, height, 0, width, [&](int row, int column) {
    int sum = 0;
    for (int r = row - 1; r <= row + 1; ++r) {
      for (int c = column - 1; c <= column + 1; ++c) sum += from.get(r, c);
    }
    to.at(row, column) = sum / 9;
  });
  return to;
}

picture black_and_white(picture p) {
  nopal::for_each(p.pixels, [](int& x) { x = x > 127; });
  return p;
}

long white(picture const& p) { return nopal::reduce(p.pixels, 0L); }

int main() {
  nopal::channel<picture> made{2}, blurred{2}, done{2};
  nopal::counter stages;
  nopal::spawn(stages, [&] {
    for (int k = 0; k < pictures; ++k) made.push(make(k));
    made.close();
  });
  nopal::spawn(stages, [&] {
    for (picture& p : made) blurred.push(blur(p));
    blurred.close();
  });
  nopal::spawn(stages, [&] {
    for (picture& p : blurred) done.push(black_and_white(std::move(p)));
    done.close();
  });

  long all = 0;
  int next = 0;
  for (picture& p : done) {  // in their order, since each stage is one fiber
    if (p.number != next || p.pixels != black_and_white(blur(make(next))).pixels) return 1;
    ++next;
    all += white(p);
  }
  nopal::wait_for(stages);
  std::printf("%d pictures, %ld white pixels\n", next, all);
  return next == pictures ? 0 : 1;
}
