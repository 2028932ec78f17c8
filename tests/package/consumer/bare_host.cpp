// A program that does not use nopal: bare_host PLUGIN PLUGIN. The plug-ins share one nopal, which is loaded with the first.
#include <dlfcn.h>

#include <cstdio>

namespace {

void* find(char const* file, char const* name) {
  void* const plugin = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  void* const found = plugin == nullptr ? nullptr : ::dlsym(plugin, name);
  if (found == nullptr) std::printf("%s\n", ::dlerror());
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto* const alone = reinterpret_cast<char const* (*)(void const*)>(find(argv[1], "one_alone"));
  auto* const other = reinterpret_cast<void const* (*)()>(find(argv[2], "other_side"));
  if (alone == nullptr || other == nullptr) return 1;
  char const* const wrong = alone(other());
  std::printf("%s\n", wrong == nullptr ? "right" : wrong);
  return wrong == nullptr ? 0 : 1;
}
