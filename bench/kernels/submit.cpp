#include "submit.hpp"

#include "../runtimes/runtime.hpp"

int main(int argc, char** argv) {
  return bench::run_kernel<bench::submit_problem>(argc, argv, []([[maybe_unused]] auto& on, auto& problem) {
#if defined(NOPAL_BENCH_SERIAL)
    // The jobs one after the other, by one thread.
    for (std::uint32_t i = 0; i < problem.results.size(); ++i) problem.run_job(i);
#elif defined(NOPAL_BENCH_TASK)
    problem.submit([&on](auto job) { on.pool.detach(job); });
#elif defined(NOPAL_BENCH_FIBER)
    problem.submit([&on](auto job) { on.pool.spawn(job); });
#elif defined(NOPAL_BENCH_TBB)
    problem.submit([&on](auto job) { on.arena.enqueue(job); });
#elif defined(NOPAL_BENCH_TASKFLOW)
    problem.submit([&on](auto job) { on.executor.silent_async(job); });
#endif
  });
}
