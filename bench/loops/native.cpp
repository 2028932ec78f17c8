// nopal::parallel_for on the default pool, from the main thread.

#include <cstdlib>
#include <string>

#include "loops.hpp"
#include "nopal/algorithm/parallel_for.hpp"

namespace {

struct native {
  static constexpr const char* name = "native";
  explicit native(unsigned workers) { ::setenv("NOPAL_WORKERS", std::to_string(workers).c_str(), 1); }
  static std::string version() { return "nopal " NOPAL_BENCH_VERSION; }
  template <class Body>
  void loop(std::size_t n, Body const& body) {
    nopal::parallel_for(std::size_t{0}, n, body);
  }
};

}  // namespace

int main(int argc, char** argv) { return bench::run_loops<native>(argc, argv); }
