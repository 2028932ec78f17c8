#include "files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <numeric>
#include <stdexcept>

#include "../runtimes/runtime.hpp"

std::uint64_t bench::files_problem::read(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error{"files: cannot open " + path};
  std::array<unsigned char, 16'384> part;
  std::uint64_t sum = 0;
  for (ssize_t n; (n = ::read(file, part.data(), part.size())) > 0;) sum = std::accumulate(part.begin(), part.begin() + n, sum);
  ::close(file);
  return sum;
}

int main(int argc, char** argv) {
  return bench::run_kernel<bench::files_problem>(argc, argv, [](auto& on, auto& problem) {
#if defined(NOPAL_BENCH_NATIVE)
    on.run([&] { nopal::for_each(problem.names, [&](const std::string& file) { problem.found += bench::files_problem::read(file); }); });
#else
    on.run([&](auto&... more) {
      bench::group children{more...};
      for (const std::string& file : problem.names) children.fork([&] { problem.found += bench::files_problem::read(file); });
      children.join();
    });
#endif
  });
}
