// How long tensors take: Eigen's own pool beside nopal; one, and several at once.

#define EIGEN_USE_THREADS
#include "nopal_eigen.hpp"

#include <nopal/nopal.hpp>

#include "../times.hpp"
#include "work.hpp"

int main(int argc, char** argv) {
  unsigned const workers = test::workers_of(argc, argv);
  int const n = static_cast<int>(workers);
  Eigen::ThreadPool alone(1), own(n);
  Eigen::ThreadPoolDevice const serial(&alone, 1), its(&own, n);
  nopal::pool pool{{.workers = workers}};
  nopal::eigen_pool adapter{pool};
  Eigen::ThreadPoolDevice const ours(&adapter, n);
  test::print_head(workers, "Eigen's");
  auto const row = [&](char const* what, auto const& f) {
    auto const time_on = [&](auto const& device) { return test::median_ms([&] { f(device); }); };
    test::print(what, time_on(serial), time_on(its), time_on(ours));
  };
  row("a picture", [](auto const& device) { test::develop(device); });
  row("a product", [](auto const& device) { test::multiply(device, 600); });
  test::print("four pictures at once", test::median_ms_of_four([&](int) { test::develop(serial); }),
              test::median_ms_of_four_threads([&](int) { test::develop(its); }),
              test::median_ms_of_four_on(pool, [&](int) { nopal::block_on([&] { test::develop(ours); }); }));
  return 0;
}
