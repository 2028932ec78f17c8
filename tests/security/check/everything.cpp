// A little of all that the headers inline into a program.
#include <nopal/nopal.hpp>

#ifdef WITH_A_THREAD_LOCAL
thread_local int own;
int& touched() { return own; }
#endif

nopal::task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0;
  co_await nopal::fork(&a, fib, n - 1);
  long const b = co_await nopal::call(fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}

long all(nopal::pool& pool, nopal::mutex& mutex, nopal::counter& left, nopal::channel<int>& channel) {
  nopal::spawn(left, [&] { mutex.lock(), nopal::yield(), mutex.unlock(), channel.push(1); });
  nopal::parallel_invoke([&] { nopal::wait_for(left); }, [&] { channel.pop(); });
  nopal::scope s;
  s.fork([&] { nopal::yield(); });
  s.join();
  return pool.run(fib, 20) + nopal::sync_wait(fib, 20);
}
