// A program that opens plug-ins: host one|each PLUGIN PLUGIN. They and the program use nopal: one that they share, or each its own.
#include <dlfcn.h>

#include <cstdio>
#include <string_view>

#include "work.hpp"

namespace {

using sides = side const*();

char const* say(char const* wrong) {
  if (wrong != nullptr) std::printf("%s\n", wrong);
  return wrong;
}

sides* open(char const* file, char const* name, void*& plugin) {
  plugin = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return say(::dlerror()), nullptr;
  return reinterpret_cast<sides*>(::dlsym(plugin, name));
}

/// If each has a nopal of its own, a pool belongs to the one that made it, and calls from the others are calls from outside.
char const* work_apart(nopal::pool& pool, side const* mine, side const* plugin) {
  if (char const* const wrong = mine->work(pool)) return wrong;
  for (int k = 0; k < 5; ++k) {
    if (pool.run(plugin->fib, 12L, plugin) != 144) return "a plug-in forks on the program's worker";
    if (mine->fib(12, mine) != 144 || plugin->fib(12, plugin) != 144) return "fib(12) off a pool";
    long a = 0, b = 0;
    pool.run([&] {
      nopal::scope s;
      s.fork([&] { a = plugin->fib(12, plugin); });
      s.fork([&] { b = mine->fib(12, mine); });
      s.join();
    });
    if (a != 144 || b != 144) return "children of the program that fork in the plug-in";
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  void *first = nullptr, *second = nullptr;
  sides* const one = open(argv[2], "one_side", first);
  sides* const other = open(argv[3], "other_side", second);
  if (one == nullptr || other == nullptr) return 1;
  char const* wrong = nullptr;
  {
    nopal::pool pool{{.workers = 4}};
    for (side const* plugin : {one(), other()}) {
      auto* const together = argv[1] == std::string_view{"one"} ? work_together : work_apart;
      if (wrong == nullptr) wrong = together(pool, program_side(), plugin);
    }
    if (wrong == nullptr && argv[1] == std::string_view{"one"}) {
      wrong = work_together(pool, one(), other());
      ::dlclose(first);
      ::dlclose(second);
      if (wrong == nullptr) wrong = program_side()->work(pool);
    }
  }
  say(wrong == nullptr ? "right" : wrong);
  return wrong == nullptr ? 0 : 1;
}
