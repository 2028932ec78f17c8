#pragma once

// What users do to photographs with OpenCV: each step loops in parallel inside it. For the test and for the times.

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "../photograph.hpp"

namespace test {

/// The photograph, whose pixels live as long as the program.
inline cv::Mat const& photograph() {
  static image i = read_photograph();
  static cv::Mat const m(static_cast<int>(i.height), static_cast<int>(i.width), CV_8UC3, i.pixels.data());
  return m;
}

/// Smaller, grey, smooth, its edges, turned.
inline cv::Mat work(cv::Mat const& from) {
  cv::Mat smaller, grey, smooth, edges, turned;
  cv::resize(from, smaller, {}, 0.6, 0.6, cv::INTER_CUBIC);
  cv::cvtColor(smaller, grey, cv::COLOR_RGB2GRAY);
  cv::bilateralFilter(grey, smooth, 7, 30, 30);
  cv::Canny(smooth, edges, 40, 90);
  cv::warpAffine(edges, turned, cv::getRotationMatrix2D({300, 200}, 20, 1.1), edges.size());
  return turned;
}

}  // namespace test
