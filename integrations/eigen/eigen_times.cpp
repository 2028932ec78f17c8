// How long tensors take: Eigen's own pool beside nopal; one, and several at once.
//
//     eigen_times [WORKERS]

#define EIGEN_USE_THREADS
#include "nopal_eigen.hpp"

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <nopal/nopal.hpp>

#include "../median.hpp"
#include "work.hpp"

int main(int argc, char** argv) {
  unsigned const workers = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : std::thread::hardware_concurrency();
  int const n = static_cast<int>(workers);
  constexpr int pictures = 4;
  Eigen::ThreadPool alone(1), own(n);
  Eigen::ThreadPoolDevice const serial(&alone, 1), its(&own, n);
  nopal::pool pool{{.workers = workers}};
  nopal::eigen_pool adapter{pool};
  Eigen::ThreadPoolDevice const ours(&adapter, n);
  std::printf("%u workers; ms, medians of 9\n%-30s %10s %10s %10s\n", workers, "", "serial", "Eigen's", "nopal");
  auto const row = [&](char const* what, auto const& f) {
    std::printf("%-30s %10.1f %10.1f %10.1f\n", what, test::median_ms([&] { f(serial); }), test::median_ms([&] { f(its); }),
                test::median_ms([&] { f(ours); }));
  };
  row("a picture", [](auto const& device) { test::develop(device); });
  row("a product", [](auto const& device) { test::multiply(device, 600); });
  std::printf(
      "%-30s %10.1f %10.1f %10.1f\n", "four pictures at once", test::median_ms([&] {
        for (int k = 0; k < pictures; ++k) test::develop(serial);
      }),
      test::median_ms([&] {
        std::vector<std::thread> all;
        for (int k = 0; k < pictures; ++k) all.emplace_back([&] { test::develop(its); });
        for (auto& t : all) t.join();
      }),
      test::median_ms([&] {
        pool.run([&] { nopal::parallel_for(0, pictures, [&](int) { nopal::block_on([&] { test::develop(ours); }); }, nopal::grain{1}); });
      }));
  return 0;
}
