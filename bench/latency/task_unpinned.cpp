#include "task.hpp"

namespace {

// The system chooses where a worker wakes, as with oneTBB.
struct unpinned {
  explicit unpinned(unsigned workers) : pool{{.workers = workers, .pin = false}} {}
  static std::string version() { return bench::nopal_runtime::version(); }
  nopal::pool pool;
};

}  // namespace

int main(int argc, char** argv) { return bench::run_task_latency<unpinned>(argc, argv, "task_unpinned"); }
