// Faults with messages or side effects that no scenario can see.

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <string>
#include <system_error>

#include "../scale.hpp"
#include "inject.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/machine/topology.hpp"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/pool.hpp"

namespace {

using namespace test::faults;

std::string refusal(nopal::pool_options const& o, plan const& p) {
  std::string said;
  try {
    armed const now{p};
    nopal::pool const pool{o};
    said = "made";
  } catch (std::system_error const& e) {
    spared const mine;
    said = e.what();
  }
  return said;
}

bool says(std::string const& all, char const* part) { return all.find(part) != std::string::npos; }

TEST(faults_say, how_many_threads_could_be_made) {
  std::string const said = refusal({.workers = 3}, {.kinds = of(kind::thread), .first = 3});
  EXPECT_TRUE(says(said, "only 2 of 3 worker threads could be created; ask for fewer workers")) << said;
}

TEST(faults_say, which_worker_could_not_be_pinned) {
  cpu_set_t all;
  if (::sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) GTEST_SKIP() << "one CPU";
  for (unsigned const i : {0u, 1u}) {
    std::string const said = refusal({.workers = 2, .pin = true}, {.kinds = of(kind::pin), .first = i + 1});
    EXPECT_TRUE(says(said, ("pin = true could not put worker " + std::to_string(i)).c_str())) << said;
  }
}

TEST(faults_say, nothing_where_pinning_was_our_own_idea) {
  EXPECT_EQ(refusal({.workers = 1}, {.kinds = of(kind::pin), .first = 1, .last = plan::never}), "made");
}

TEST(faults_say, that_there_is_no_address_space) {
  {
    nopal::pool const learns_the_machine{{.workers = 1}};
  }
  // Each worker makes its deque accessible twice, small and large, and then a stack, for which the first of them maps a region.
  std::string const said = refusal({.workers = 2}, {.kinds = of(kind::protect), .first = 7});
  EXPECT_TRUE(says(said, "no address space for the first native stack of worker 1")) << said;
  EXPECT_TRUE(says(said, "lower stack_size or the number of workers")) << said;
}

// It crashes if it finds no memory. It is used only if its variables say so.
TEST(faults_of_hwloc, are_not_provoked) {
  ::setenv("HWLOC_THISSYSTEM", "1", 1);
  arm({.kinds = of(kind::map), .first = 1});
  nopal::core::topology const t = nopal::core::topology::load({1'000'000, 1'000'001});
  disarm();
  EXPECT_EQ(calls(kind::topology), 0u);
  EXPECT_EQ(t.pus(), 2u);
  arm({});
  static_cast<void>(nopal::core::topology::load({1'000'000, 1'000'001}));
  disarm();
  ::unsetenv("HWLOC_THISSYSTEM");
  EXPECT_NE(calls(kind::topology), 0u);
}

TEST(faults_of_hwloc, leave_a_flat_machine) {
  ::setenv("HWLOC_THISSYSTEM", "1", 1);
  auto const cpus = nopal::core::read_affinity();
  for (std::uint64_t k = 1; k <= 3; ++k) {
    ::setenv("HWLOC_NOPAL_TEST", std::to_string(k).c_str(), 1);  // so that the answer before is not given again
    arm({.kinds = of(kind::topology), .first = k});
    nopal::core::topology const t = nopal::core::topology::load(cpus);
    disarm();
    EXPECT_EQ(failures(), 1u) << k;
    EXPECT_EQ(t.pus(), cpus.size()) << k;
    EXPECT_EQ(t.nodes(), 1u) << k;
  }
  ::unsetenv("HWLOC_NOPAL_TEST");
  ::unsetenv("HWLOC_THISSYSTEM");
}

// It loads plug-ins (OpenCL, OpenGL, X11), wherever they are installed; these must not get faults, and are not loaded by a pool.
TEST(faults_of_hwloc, are_none_where_nobody_asks_it) {
  arm({});
  {
    nopal::pool const pool{{.workers = 1}};
    static_cast<void>(nopal::core::topology::load({0, 1'000'000}));
  }
  disarm();
  EXPECT_EQ(calls(kind::topology), 0u);
}

// If one part of a mapping was given back, another thread may have mapped something there: that part must not be given back again. A
// smaller mapping may succeed if a large one was refused.
TEST(faults_of_a_stack, give_back_what_was_mapped_once) {
  using nopal::core::stack_pool;
  for (auto const what : {kind::protect, kind::unmap, kind::map}) {
    for (std::uint64_t k = 1; k <= 3; ++k) {
      for (int again = 0; again < 8; ++again) {  // wherever the kernel puts it
        std::int64_t const before = mapped_bytes();
        {
          stack_pool pool{64 << 10, nopal::reclaim::dontneed, 0};
          arm({.kinds = of(what), .first = k});
          nopal::core::stack* const s = pool.get();
          bool const failed = failures() != 0;
          disarm();
          EXPECT_TRUE(s != nullptr || failed) << name(what) << ' ' << k;
          if (s != nullptr) pool.put(s);
        }
        EXPECT_EQ(mapped_bytes(), before) << name(what) << ' ' << k;
      }
    }
  }
}

// On a machine with many CPUs the kernel needs memory for the fast one.
TEST(faults_of_membarrier, leave_the_slow_one) {
  if (!nopal::core::heavy_fence_available()) GTEST_SKIP() << "no membarrier on this machine";
  arm({.kinds = of(kind::membarrier), .first = 1});
  nopal::core::heavy_fence();
  disarm();
  EXPECT_EQ(calls(kind::membarrier), 2u);
  EXPECT_EQ(failures(), 1u);
}

TEST(faults_of_membarrier, end_the_program_where_there_is_none_left) {
  if (!nopal::core::heavy_fence_available()) GTEST_SKIP() << "no membarrier on this machine";
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(
      {
        nopal::core::heavy_fence_available();
        arm({.kinds = of(kind::membarrier), .first = 1, .last = plan::never});
        nopal::core::heavy_fence();
      },
      "nopal: membarrier failed after its registration");
}

}  // namespace
