#pragma once

// The photograph that libraries work on.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace test {

using bytes = std::vector<std::uint8_t>;

struct image {
  std::uint32_t width = 0, height = 0;
  bytes pixels;  ///< red, green, blue, row by row

  bool operator==(image const&) const = default;
  /// The part with the corner (x, y), no larger than w times h.
  image part(std::uint32_t x, std::uint32_t y, std::uint32_t w, std::uint32_t h) const {
    image p{std::min(w, width - x), std::min(h, height - y), {}};
    for (std::uint32_t row = 0; row < p.height; ++row) {
      auto const from = pixels.begin() + (std::ptrdiff_t{y + row} * width + x) * 3;
      p.pixels.insert(p.pixels.end(), from, from + std::ptrdiff_t{p.width} * 3);
    }
    return p;
  }
};

/// A binary PPM of 8 bits.
inline image read_photograph() {
  std::string const file = NOPAL_PHOTOGRAPH;
  std::ifstream in{file, std::ios::binary};
  std::string magic;
  image i;
  unsigned most = 0;
  if (!(in >> magic >> i.width >> i.height >> most) || magic != "P6" || most != 255)
    throw std::runtime_error{file + " is no PPM of 8 bits"};
  in.get();
  i.pixels.resize(std::size_t{i.width} * i.height * 3);
  if (!in.read(reinterpret_cast<char*>(i.pixels.data()), static_cast<std::streamsize>(i.pixels.size())))
    throw std::runtime_error{file + " ends early"};
  return i;
}

}  // namespace test
