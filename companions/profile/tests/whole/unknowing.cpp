// A program without a profile of its own: fib(15) on the default pool, and as fibers that main waits for. Before: `child` forks a child that ends
// at once; `in FOLDER` changes to that folder.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "nopal/nopal.hpp"

static long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

int main(int argc, char** argv) {
  std::string_view const before = argc > 1 ? argv[1] : "";
  if (before == "child") {
    pid_t const child = ::fork();
    if (child == 0) return EXIT_SUCCESS;
    if (::waitpid(child, nullptr, 0) != child) return EXIT_FAILURE;
  }
  if (before == "in" && ::chdir(argv[2]) != 0) return EXIT_FAILURE;
  long const x = nopal::default_pool().run(fib, 15);
  long y = 0;
  nopal::counter left;
  nopal::spawn(left, [&] { y = fib(15); });
  nopal::wait_for(left);
  return x == 610 && y == 610 ? EXIT_SUCCESS : EXIT_FAILURE;
}
