#include "task.hpp"

int main(int argc, char** argv) { return bench::run_task_latency<bench::nopal_runtime>(argc, argv, "task"); }
