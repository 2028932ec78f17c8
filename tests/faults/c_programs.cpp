// A C program.

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "nopal/nopal.h"
#include "nopal/nopal.hpp"
#include "programs.hpp"

namespace test::faults {

using nopal::pool;

namespace {
/// A status, and its message, which belongs to the calling thread.
struct c_status {
  nopal_status status = NOPAL_OK;
  std::array<char, 200> words{};

  /// Keeps the first that is not good.
  void note(nopal_status s) noexcept {
    if (status != NOPAL_OK || s == NOPAL_OK) return;
    status = s;
    std::snprintf(words.data(), words.size(), "%s", nopal_last_error());
  }
  void note(c_status const& s) noexcept {
    if (status == NOPAL_OK) *this = s;
  }
  /// Throws an exception that the harness knows.
  void check() const {
    if (status == NOPAL_NO_MEMORY) throw std::bad_alloc{};
    if (status == NOPAL_SYSTEM) throw std::system_error{EAGAIN, std::generic_category(), words.data()};
    if (status != NOPAL_OK) throw std::logic_error{words.data()};
  }
};
struct in_c {
  long n = 0, result = 0;
  c_status status{};
};
void c_fib(void* arg) {
  auto& x = *static_cast<in_c*>(arg);
  if (x.n < 2) {
    x.result = x.n;
    return;
  }
  in_c a{x.n - 1}, b{x.n - 2};
  nopal_scope s;
  nopal_scope_init(&s);
  x.status.note(nopal_fork(&s, c_fib, &a));
  c_fib(&b);
  x.status.note(nopal_join(&s));
  x.status.note(a.status);
  x.status.note(b.status);
  x.result = a.result + b.result;
}
}  // namespace

bool speaks_c(pool&) {
  nopal_options options{};
  options.workers = 2;
  nopal_pool* const p = nopal_pool_create(&options);
  if (p == nullptr) {
    std::string const why = nopal_last_error();
    if (why == "nopal: out of memory") throw std::bad_alloc{};
    throw std::system_error{EAGAIN, std::generic_category(), why};
  }
  struct destroys {
    nopal_pool* p;
    ~destroys() { nopal_pool_destroy(p); }
  } const at_the_end{p};
  in_c x{10};
  x.status.note(nopal_pool_run(p, c_fib, &x));
  x.status.check();
  struct fibers {
    std::atomic<int> ran{0};
    c_status status;
  } f;
  f.status.note(nopal_pool_run(
      p,
      [](void* arg) {
        auto& all = *static_cast<fibers*>(arg);
        nopal_counter left;
        nopal_counter_init(&left, 0);
        for (int k = 0; k < 5; ++k) all.status.note(nopal_spawn(&left, [](void* a) { ++static_cast<fibers*>(a)->ran; }, arg));
        all.status.note(nopal_wait(&left, 0));
        all.status.note(nopal_sleep_for(1000));
        nopal_counter_destroy(&left);
      },
      &f));
  f.status.check();
  return x.result == 55 && f.ran == 5;
}

}  // namespace test::faults
