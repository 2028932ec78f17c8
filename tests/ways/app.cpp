// Built and run in each way of building: a use of each front end, with the nopal that it is given.
#include <nopal/nopal.hpp>

#include <cstdio>
#include <vector>

namespace {

nopal::task<long> task_fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, task_fib, n - 1);
  co_await nopal::call(&b, task_fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}

long fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

long through_a_channel(long n) {
  nopal::channel<long> numbers{4};
  nopal::counter sender;
  nopal::spawn(sender, [&] {
    for (long k = 1; k <= n; ++k) numbers.push(k);
    numbers.close();
  });
  long sum = 0;
  for (long k : numbers) sum += k;
  nopal::wait_for(sender);
  return sum;
}

}  // namespace

int main() {
  nopal::pool pool{{.workers = 2}};
  bool const tasks = pool.run(task_fib, 20L) == 6765;
  bool const functions = pool.run(fib, 20L) == 6765;
  bool const fibers = pool.run(through_a_channel, 1000L) == 500'500;
  bool const loops = nopal::reduce(std::vector<long>(100'000, 3)) == 300'000;
  bool const one_version = nopal::version() == NOPAL_VERSION;
  std::printf("nopal %s: tasks %d, functions %d, fibers %d, loops %d\n", NOPAL_VERSION_STRING, tasks, functions, fibers, loops);
  return tasks && functions && fibers && loops && one_version ? 0 : 1;
}
