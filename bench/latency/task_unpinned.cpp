#include "task.hpp"

// Workers that sleep, and wake on any CPU that the system chooses, as oneTBB's do.
int main(int argc, char** argv) { return bench::run_task_latency<bench::unpinned_runtime<nopal::idle::lazy>>(argc, argv, "task_unpinned"); }
