// A pool loads no other libraries into the process: no plug-ins of hwloc (OpenCL, OpenGL, X11), wherever they are installed.

#include <gtest/gtest.h>
#include <link.h>
#include <stdlib.h>

#include <cstdio>
#include <cstdlib>

#include "../scale.hpp"
#include "nopal/pool.hpp"

namespace {

/// The number of shared objects that this process has ever loaded, also those that are unloaded.
unsigned long long ever_loaded() {
  unsigned long long adds = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = object->dlpi_adds;
        return 1;
      },
      &adds);
  return adds;
}

// In a process of its own, since what another test has loaded would not be loaded again.
TEST(loaded_objects, are_none_more_with_a_pool) {
  if (test::emulated()) GTEST_SKIP() << "a program cannot start itself again";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        for (auto const* variable : {"HWLOC_SYNTHETIC", "HWLOC_XMLFILE", "HWLOC_FSROOT", "HWLOC_COMPONENTS", "HWLOC_THISSYSTEM"}) {
          unsetenv(variable);
        }
        auto const before = ever_loaded();
        int result = 0;
        {
          nopal::pool pool{{.workers = 2}};
          result = pool.run([] { return 42; });
        }
        auto const after = ever_loaded();
        std::fprintf(stderr, "%d; %llu loaded before, %llu after\n", result, before, after);
        std::exit(result == 42 && before != 0 && after == before ? 0 : 1);
      },
      testing::ExitedWithCode(0), "42;");
}

}  // namespace
