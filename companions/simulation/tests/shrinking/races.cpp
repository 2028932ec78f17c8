// Programs with one race each, among code that is right: shrinking.py lets ./nopal shrink find them. In serial order none fails.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "nopal/nopal.hpp"

#define APART [[gnu::noinline]]

namespace {

// Many forks, each of which may be a switch.
APART long noise(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = noise(n - 1); }, [&] { b = noise(n - 2); });
  return a + b;
}

int fail(char const* what) {
  std::fprintf(stderr, "%s\n", what);
  return 1;
}

// ---- An update is lost: a fork is between the read and the write.

long volatile balance = 0;

APART void audit() { noise(3); }
APART void deposit() {
  long const before = balance;
  audit();
  balance = before + 1;
}
int lost_update() {
  noise(6);
  nopal::parallel_invoke([] { deposit(); }, [] { deposit(); });
  noise(6);
  return balance == 2 ? 0 : fail("an update is lost");
}

// ---- An order that holds only in serial execution.

int volatile volume = 0;

APART int measure() {
  noise(4);
  return volume;
}
APART void fill() {
  noise(4);
  volume = 7;
}
int order() {
  int measured = 0;
  noise(5);
  nopal::parallel_invoke([] { fill(); }, [&] { measured = measure(); });
  return measured == 7 ? 0 : fail("measured before it was filled");
}

// ---- A flag is set before the value is there; a signal ends the program.

bool volatile initialised = false;
int* volatile table = nullptr;

APART int* make_table() {
  noise(4);
  return new int[4]{1, 2, 3, 4};
}
APART int entry(int k) {
  if (!initialised) {
    initialised = true;
    table = make_table();
  }
  return table[k];
}
int flag() {
  int a = 0, b = 0;
  noise(5);
  nopal::parallel_invoke([&] { a = entry(1); }, [&] { b = entry(2); });
  delete[] table;
  return a + b == 5 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  char const* const what = argc > 1 ? argv[1] : "";
  nopal::pool pool{{.workers = 2}};
  if (std::strcmp(what, "lost_update") == 0) return pool.run(lost_update);
  if (std::strcmp(what, "order") == 0) return pool.run(order);
  if (std::strcmp(what, "flag") == 0) return pool.run(flag);
  if (std::strcmp(what, "right") == 0) return pool.run(noise, 8L) == 21 ? 0 : 1;
  std::fprintf(stderr, "usage: races lost_update|order|flag|right\n");
  return 2;
}
