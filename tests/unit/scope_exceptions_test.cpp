// Exceptions of the functions that fork in scopes, of their children, and while another one unwinds.

#include <gtest/gtest.h>

#include <atomic>

#include "../fib.hpp"
#include "../numbered.hpp"
#include "../on_pools.hpp"
#include "nopal/scope.hpp"

namespace {

using nopal::scope;
using test::number_thrown;
using test::numbered;
using test::on_lazy_and_busy_pools;
using test::scoped::fib;

TEST(scope_test, the_join_throws_what_serial_order_meets_first) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    for (int k = 0; k < 20; ++k) {
      EXPECT_EQ(number_thrown(pool,
                              [] {
                                scope s;
                                s.fork([] { fib(6); });
                                s.fork([] {
                                  fib(6);
                                  throw numbered{1};
                                });
                                s.fork([] { throw numbered{2}; });
                                s.join();
                              }),
                1);
      EXPECT_EQ(number_thrown(pool,
                              [] {
                                scope s;
                                s.fork([] { throw numbered{3}; });
                              }),
                3);
    }
  });
}

TEST(scope_test, an_exception_that_leaves_the_function_waits_for_the_children) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    std::atomic<int> ended{0};
    EXPECT_EQ(number_thrown(pool,
                            [&] {
                              scope s;
                              for (int k = 0; k < 3; ++k) {
                                s.fork([&] {
                                  fib(8);
                                  ++ended;
                                  throw numbered{1};
                                });
                              }
                              throw numbered{2};
                            }),
              2);
    EXPECT_EQ(ended, 3);
  });
}

TEST(scope_test, off_a_pool_exceptions_come_in_order_too) {
  for (int k = 0; k < 20; ++k) {
    scope s;
    s.fork([] { throw numbered{1}; });
    s.fork([] { throw numbered{2}; });
    try {
      s.join();
      FAIL();
    } catch (numbered const& e) {
      EXPECT_EQ(e.number, 1);
    }
    s.fork([] {});
  }
}

struct forks_when_destroyed {
  long* to;
  ~forks_when_destroyed() {
    scope s;
    s.fork([this] { *to += fib(7); });
    s.fork([this] {
      static_cast<void>(to);
      throw numbered{1};
    });
    try {
      s.join();
    } catch (numbered const&) {
      *to += 1;
    }
  }
};

TEST(scope_test, destructors_may_fork_while_an_exception_unwinds) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    long got = 0;
    EXPECT_EQ(number_thrown(pool,
                            [&] {
                              forks_when_destroyed const x{&got};
                              throw numbered{5};
                            }),
              5);
    EXPECT_EQ(got, 14);
  });
}

struct rethrows_when_destroyed {
  bool* seen;
  ~rethrows_when_destroyed() {
    try {
      scope s;
      s.fork([] { throw numbered{7}; });
    } catch (numbered const& e) {
      *seen = e.number == 7;
    }
  }
};

TEST(scope_test, a_scope_within_an_unwinding_destructor_rethrows_its_own) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    bool seen = false;
    EXPECT_EQ(number_thrown(pool,
                            [&] {
                              rethrows_when_destroyed const x{&seen};
                              throw numbered{5};
                            }),
              5);
    EXPECT_TRUE(seen);
  });
}

}  // namespace
