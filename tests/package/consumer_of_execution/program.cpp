// Senders on a pool, and the parallel scheduler of the process on the default pool.
#include <nopal/execution.hpp>
#include <nopal/pool.hpp>

#include <cstdio>

int main() {
  nopal::pool pool{{.workers = 2}};
  auto const is_on = [](nopal::pool* p) { return [p] { return nopal::pool::current() == p; }; };
  auto [here] = *stdexec::sync_wait(stdexec::schedule(nopal::get_scheduler(pool)) | stdexec::then(is_on(&pool)));
  auto [there] = *stdexec::sync_wait(stdexec::schedule(stdexec::get_parallel_scheduler()) | stdexec::then(is_on(&nopal::default_pool())));
  std::puts(here && there ? "right" : "not on its pool");
  return here && there ? 0 : 1;
}
