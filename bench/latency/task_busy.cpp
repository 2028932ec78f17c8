#include "task.hpp"

// Workers that keep searching, as OpenMP's do for a while.
int main(int argc, char** argv) { return bench::run_task_latency<bench::unpinned_runtime<nopal::idle::busy>>(argc, argv, "task_busy"); }
