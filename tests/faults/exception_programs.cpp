// Exceptions of the program itself, from tasks, functions, scopes and fibers.

#include "../numbered.hpp"
#include "nopal/nopal.hpp"
#include "parts.hpp"
#include "programs.hpp"

namespace test::faults {

using nopal::fork;
using nopal::join;
using nopal::pool;
using nopal::task;

namespace {
task<long> throws_at(long n, long where) {
  if (n == where) throw numbered{static_cast<int>(n)};
  if (n == 0) co_return 0;
  long a = 0, b = 0;
  co_await fork(&a, throws_at, n - 1, where);
  co_await fork(&b, throws_at, n - 2 > 0 ? n - 2 : 0, where);
  co_await join;
  co_return a + b;
}
}  // namespace

bool throws(pool& p) {
  for (int k = 0; k < 5; ++k) {
    try {
      p.run(throws_at, 8L, 3L);
      return false;
    } catch (numbered const& e) {
      if (e.number != 3) return false;
    }
    try {
      p.run([] { nopal::parallel_invoke([] { native_fib(5); }, [] { throw numbered{1}; }, [] { throw numbered{2}; }); });
      return false;
    } catch (numbered const& e) {
      if (e.number != 1) return false;
    }
    try {
      p.run([] {
        nopal::scope s;
        s.fork([] { throw numbered{1}; });
        s.fork([] { native_fib(5); });
        s.join();
      });
      return false;
    } catch (numbered const& e) {
      if (e.number != 1) return false;
    }
    try {
      p.run([] {
        nopal::counter left;
        spawns_and_waits(left, 3, [] { throw numbered{1}; });
      });
      return false;
    } catch (numbered const&) {
    }
  }
  return true;
}

}  // namespace test::faults
