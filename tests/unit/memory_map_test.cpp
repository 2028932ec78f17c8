// No memory is writable and executable at once: nothing writes code at run time, and no stack is executable.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>
#include <string>

#include "../scale.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"

namespace {

/// The lines of /proc/self/maps that are both.
std::string writable_and_executable() {
  std::string lines;
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    auto const rights = line.find(' ') + 1;
    if (line[rights + 1] == 'w' && line[rights + 2] == 'x') lines += line + '\n';
  }
  return lines;
}

long scope_fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::scope s;
  s.fork([&a, n] { a = scope_fib(n - 1); });
  nopal::parallel_invoke([&] { b = scope_fib(n - 2); }, [] {});
  s.join();
  return a + b;
}

TEST(memory_map, has_nothing_that_is_writable_and_executable) {
  if (test::emulated()) GTEST_SKIP() << "the emulator keeps the rights of mappings to itself";
  nopal::pool pool{{.workers = 3}};
  EXPECT_EQ(pool.run(scope_fib, 12), 144);
  EXPECT_EQ(pool.run(writable_and_executable), "");  // also on a native stack of ours, while others work
}

TEST(memory_map, would_show_it) {
  if (test::emulated()) GTEST_SKIP() << "the emulator keeps the rights of mappings to itself";
  void* const both = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (both == MAP_FAILED) GTEST_SKIP() << "the kernel gives no such memory";
  std::string const found = writable_and_executable();
  ::munmap(both, 4096);
  EXPECT_NE(found, "");
}

}  // namespace
