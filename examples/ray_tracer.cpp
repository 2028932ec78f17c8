// Draws balls that mirror each other, and writes a picture as PNG. The time of a pixel depends on its ray's reflections: parallel_for in
// two dimensions splits the rest whenever a worker has nothing to do.
// Work O(pixels · depth · balls), span O(depth · balls + log pixels), and the file O(pixels).

#include <nopal/algorithm/parallel_for.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

struct vec {
  double x, y, z;
  friend vec operator+(vec a, vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend vec operator-(vec a, vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend vec operator*(double s, vec a) { return {s * a.x, s * a.y, s * a.z}; }
  friend double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
  vec normal() const { return 1 / std::sqrt(dot(*this, *this)) * *this; }
};

struct ball {
  vec centre;
  double radius;
  vec colour;
};
constexpr std::array<ball, 5> balls{{{{0, -1000, 0}, 1000, {.8, .8, .7}},
                                     {{0, 1, 0}, 1, {.9, .3, .2}},
                                     {{-2, .7, 1.2}, .7, {.2, .6, .9}},
                                     {{1.9, .8, .9}, .8, {.3, .8, .3}},
                                     {{.4, .35, 1.9}, .35, {.9, .8, .2}}}};
constexpr int width = 360, height = 240;

/// The distance of a ball along the ray, or a negative number.
double distance(vec from, vec way, ball const& b) {
  vec const to = b.centre - from;
  double const middle = dot(to, way), square = middle * middle - dot(to, to) + b.radius * b.radius;
  return square < 0 ? -1 : middle - std::sqrt(square);
}

vec trace(vec from, vec way, int depth) {
  ball const* hit = nullptr;
  double near = 1e9;
  for (ball const& b : balls) {
    if (double const d = distance(from, way, b); d > 1e-6 && d < near) near = d, hit = &b;
  }
  if (hit == nullptr) return (.5 + .5 * way.y) * vec{.5, .7, 1} + (.5 - .5 * way.y) * vec{1, 1, 1};
  vec const at = from + near * way, up = (at - hit->centre).normal(), sun = vec{-1, 2, 1.5}.normal();
  double light = std::fmax(0, dot(up, sun));
  for (ball const& b : balls) light *= distance(at, sun, b) > 1e-6 ? .3 : 1;
  vec const own = (.25 + .75 * light) * hit->colour;
  return depth == 0 ? own : .75 * own + .25 * trace(at, way - 2 * dot(way, up) * up, depth - 1);
}

[[gnu::noinline]] vec pixel(int row, int column) {  // compiled once, so that all are rounded alike
  vec const way{(column + .5 - width / 2.) / height, (height / 2. - row - .5) / height - .25, -1};
  return trace({0, 1.8, 5}, way.normal(), 5);
}

std::string number(std::uint32_t n) {  // as PNG has it, the high byte first
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n)};
}

std::string chunk(std::string const& said) {  // its name and data
  std::uint32_t crc = ~0u;
  for (char const c : said) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1) * 0xEDB88320u;
  }
  return number(static_cast<std::uint32_t>(said.size() - 4)) + said + number(~crc);
}

using picture = std::string;
void draw(picture& p, int row, int column) {
  auto const [r, g, b] = pixel(row, column);
  char* const to = &p[static_cast<std::size_t>(row * (1 + 3 * width) + 1 + 3 * column)];
  for (int i = 0; double const part : {r, g, b}) to[i++] = static_cast<char>(std::lround(255 * std::sqrt(std::fmin(part, 1))));
}

int main(int argc, char** argv) {
  picture lines(std::size_t{height} * (1 + 3 * width), '\0'), serial = lines;  // each line: a filter that does nothing, and the pixels
  nopal::parallel_for(0, height, 0, width, [&](int row, int column) { draw(lines, row, column); });

  std::string data = "IDAT\x78\x01";
  std::uint32_t a = 1, b = 0;                          // Adler's sum, modulo 65521
  for (std::size_t line = 0; line < height; ++line) {  // a block for each line, stored as it is
    std::uint32_t const size = 1 + 3 * width;
    data += {line + 1 == height, static_cast<char>(size & 255), static_cast<char>(size >> 8), static_cast<char>(~size & 255),
             static_cast<char>(~size >> 8)};
    data.append(lines, line * size, size);
    for (std::size_t i = line * size; i < (line + 1) * size; ++i)
      a = (a + static_cast<unsigned char>(lines[i])) % 65521, b = (b + a) % 65521;
  }
  char const* const name = argc > 1 ? argv[1] : "ray_tracer.png";
  std::ofstream file{name, std::ios::binary};
  file << "\x89PNG\r\n\x1a\n"
       << chunk("IHDR" + number(width) + number(height) + std::string{8, 2, 0, 0, 0}) << chunk(data + number(b << 16 | a)) << chunk("IEND");
  if (!file.flush()) return std::printf("cannot write %s\n", name), 1;
  std::printf("%s: %d x %d, sum of all bytes %08x\n", name, width, height, b << 16 | a);
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) draw(serial, row, column);
  }
  return lines == serial ? 0 : 1;
}
