// How long a photograph takes: OpenCV's own threads beside nopal; one picture, and several at once.

#include "nopal_opencv.hpp"

#include <memory>

#include <nopal/nopal.hpp>
#include <opencv2/core/parallel/parallel_backend.hpp>
#include <opencv2/core/utility.hpp>

#include "../times.hpp"
#include "work.hpp"

int main(int argc, char** argv) {
  unsigned const workers = test::workers_of(argc, argv);
  auto const one = [] { test::work(test::photograph()); };
  auto const each = [&](int) { one(); };
  one();
  cv::setNumThreads(1);
  double const serial = test::median_ms(one), serial_four = test::median_ms_of_four(each);
  cv::setNumThreads(static_cast<int>(workers));
  double const its = test::median_ms(one), its_four = test::median_ms_of_four_threads(each);
  nopal::pool pool{{.workers = workers}};
  cv::parallel::setParallelForBackend(std::make_shared<nopal::opencv_backend>(pool), false);
  test::print_head(workers, "OpenCV's");
  test::print("one picture", serial, its, test::median_ms(one));
  test::print("four at once", serial_four, its_four, test::median_ms_of_four_on(pool, each));
  return 0;
}
