#pragma once

// A photograph worked on by Eigen's tensors, and a product of matrices: for the test and for the times. Before it: EIGEN_USE_THREADS.

#include <cstddef>
#include <unsupported/Eigen/CXX11/Tensor>

#include "../photograph.hpp"

namespace test {

using matrix = Eigen::Tensor<float, 2>;
using picture = Eigen::Tensor<float, 3>;

/// A part of the photograph: colour, column, row.
inline picture const& photograph() {
  static picture const p = [] {
    image const i = read_photograph().part(0, 0, 900, 600);
    picture made(3, i.width, i.height);
    for (Eigen::Index k = 0; k < made.size(); ++k) made.data()[k] = static_cast<float>(i.pixels[static_cast<std::size_t>(k)]) / 255;
    return made;
  }();
  return p;
}

/// A gamma, a blur by a convolution, and the contrast.
inline picture develop(Eigen::ThreadPoolDevice const& device) {
  picture light(photograph().dimensions());
  light.device(device) = photograph().pow(2.2f);
  Eigen::Tensor<float, 2> kernel(5, 5);
  kernel.setConstant(1 / 25.0f);
  picture blurred(3, light.dimension(1) - 4, light.dimension(2) - 4);
  Eigen::array<Eigen::Index, 2> const plane{1, 2};
  blurred.device(device) = light.convolve(kernel, plane);
  picture out(blurred.dimensions());
  out.device(device) = (blurred * 1.3f - 0.1f).cwiseMax(0.0f).cwiseMin(1.0f).sqrt();
  return out;
}

/// A product of matrices of whole numbers: any order of the sums is right.
inline matrix multiply(Eigen::ThreadPoolDevice const& device, Eigen::Index n = 300) {
  matrix a(n, n + 100), b(n + 100, n - 50), c(n, n - 50);
  for (Eigen::Index k = 0; k < a.size(); ++k) a.data()[k] = static_cast<float>(k % 17) - 8;
  for (Eigen::Index k = 0; k < b.size(); ++k) b.data()[k] = static_cast<float>(k % 23) - 11;
  Eigen::array<Eigen::IndexPair<int>, 1> const inner{Eigen::IndexPair<int>{1, 0}};
  c.device(device) = a.contract(b, inner);
  return c;
}

}  // namespace test
