#include "task.hpp"

namespace {

// Workers that keep looking, as OpenMP's do for a while.
struct busy {
  explicit busy(unsigned workers) : pool{{.workers = workers, .idle = nopal::idle::busy, .pin = false}} {}
  static std::string version() { return bench::nopal_runtime::version(); }
  nopal::pool pool;
};

}  // namespace

int main(int argc, char** argv) { return bench::run_task_latency<busy>(argc, argv, "task_busy"); }
