#include "tbb.hpp"

namespace {

struct automatic : bench::tbb_loops<oneapi::tbb::auto_partitioner> {
  static constexpr const char* name = "tbb";
  using tbb_loops::tbb_loops;
};

}  // namespace

int main(int argc, char** argv) { return bench::run_loops<automatic>(argc, argv); }
