// How long a photograph takes: OpenCV's own threads beside nopal; one picture, and several at once.
//
//     opencv_times [WORKERS]

#include "nopal_opencv.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include <nopal/nopal.hpp>
#include <opencv2/core/parallel/parallel_backend.hpp>
#include <opencv2/core/utility.hpp>

#include "../median.hpp"
#include "work.hpp"

int main(int argc, char** argv) {
  unsigned const workers = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : std::thread::hardware_concurrency();
  constexpr int pictures = 4;
  auto const one = [] { test::work(test::photograph()); };
  auto const in_turn = [&] {
    for (int k = 0; k < pictures; ++k) one();
  };
  auto const by_threads = [&] {
    std::vector<std::thread> all;
    for (int k = 0; k < pictures; ++k) all.emplace_back(one);
    for (auto& t : all) t.join();
  };
  one();
  cv::setNumThreads(1);
  double const serial = test::median_ms(one), serial_many = test::median_ms(in_turn);
  cv::setNumThreads(static_cast<int>(workers));
  double const its = test::median_ms(one), its_many = test::median_ms(by_threads);
  nopal::pool pool{{.workers = workers}};
  cv::parallel::setParallelForBackend(std::make_shared<nopal::opencv_backend>(pool), false);
  double const ours = test::median_ms(one);
  double const ours_many =
      test::median_ms([&] { pool.run([&] { nopal::parallel_for(0, pictures, [&](int) { one(); }, nopal::grain{1}); }); });
  std::printf("%u workers; ms, medians of 9\n%-30s %10s %10s %10s\n", workers, "", "serial", "OpenCV's", "nopal");
  std::printf("%-30s %10.1f %10.1f %10.1f\n", "one picture", serial, its, ours);
  std::printf("%-30s %10.1f %10.1f %10.1f\n", "four at once", serial_many, its_many, ours_many);
  return 0;
}
