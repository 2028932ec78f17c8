// nopal holds the loader's lock while it reads the addresses of code: it only copies then. A thread that allocates there may wait for a
// thread that holds a lock of the allocator, or of a sanitizer, and waits for the loader.
// Needs the companion debug.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdlib>
#include <new>
#include <string>

#include "nopal/nopal.hpp"

#if !NOPAL_ASAN && !NOPAL_TSAN  // which put functions of their own in these places

namespace {

thread_local bool has_the_loaders_lock = false;
thread_local long asked = 0, allocated = 0;

using callback = int (*)(dl_phdr_info*, std::size_t, void*);

struct guarded {
  callback f;
  void* with;
};
int under_the_lock(dl_phdr_info* info, std::size_t size, void* with) {
  auto const& g = *static_cast<guarded*>(with);
  has_the_loaders_lock = true;
  int const answer = g.f(info, size, g.with);
  has_the_loaders_lock = false;
  return answer;
}

}  // namespace

// In the place of the loader's.
extern "C" int dl_iterate_phdr(callback f, void* with) {
  static auto const loaders = reinterpret_cast<int (*)(callback, void*)>(::dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  ++asked;
  guarded g{f, with};
  return loaders(under_the_lock, &g);
}

void* operator new(std::size_t n) {
  if (has_the_loaders_lock) ++allocated;
  if (void* const p = std::malloc(n)) return p;
  throw std::bad_alloc{};
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

TEST(loader, is_held_without_allocating) {
  nopal::pool pool{{.workers = 1}};
  nopal::counter gate{1}, all;
  pool.spawn(all, [&] { nopal::wait_for(gate); });
  std::string report = pool.report();
  while (report.find("1 native stack waits") == report.npos) report = pool.report();
  gate.done();
  nopal::wait_for(all);
  EXPECT_GT(asked, 0);
  EXPECT_EQ(allocated, 0);
  EXPECT_NE(report.find("is_held_without_allocating"), report.npos) << report;  // the function is known, so the objects were read
}

#else

TEST(loader, is_held_without_allocating) { GTEST_SKIP() << "these sanitizers have functions of their own there"; }

#endif
