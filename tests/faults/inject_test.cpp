// The injector itself: the calls that a plan names fail, and no others.

#include "inject.hpp"

#include <gtest/gtest.h>
#include <hwloc.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <system_error>
#include <thread>

#include "../scale.hpp"

namespace {

using namespace test::faults;

// Must not be optimised away, as a pair of new and delete may be.
void* volatile sink;
auto* volatile call_malloc = std::malloc;
auto* volatile call_strdup = ::strdup;

bool new_fails() {
  try {
    sink = ::operator new(24);
    ::operator delete(sink);
    return false;
  } catch (std::bad_alloc const&) {
    return true;
  }
}
bool malloc_fails() {
  sink = call_malloc(24);
  bool const failed = sink == nullptr;
  std::free(sink);
  return failed;
}
bool map_fails() {
  void* const p = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return true;
  ::munmap(p, 4096);
  return false;
}

TEST(inject, lets_the_call_fail_that_the_plan_says_and_no_other) {
  armed const now{{.kinds = of(kind::allocation), .first = 3}};
  bool const failed[] = {new_fails(), malloc_fails(), new_fails(), map_fails(), new_fails(), new_fails(), new_fails()};
  disarm();
  EXPECT_EQ(std::string(failed, failed + 7), std::string("\0\0\0\0\1\0\0", 7));
  EXPECT_EQ(failures(), 1u);
  EXPECT_EQ(calls(kind::allocation), 5u);
  EXPECT_EQ(calls(kind::c_allocation), 2u);  // one is the exception's
  EXPECT_EQ(calls(kind::map), 1u);
  EXPECT_EQ(calls(kind::unmap), 1u);
}

TEST(inject, lets_all_fail_from_one_on) {
  arm({.kinds = of(kind::allocation, kind::map), .first = 2, .last = plan::never});
  bool const failed[] = {new_fails(), map_fails(), malloc_fails(), new_fails(), map_fails()};
  disarm();
  bool const after = new_fails() || map_fails();
  EXPECT_EQ(std::string(failed, failed + 5), std::string("\0\1\0\1\1", 5));
  EXPECT_FALSE(after);
}

TEST(inject, spares_what_it_is_told_to) {
  arm({.kinds = everything, .first = 1, .last = plan::never});
  bool spared_fails;
  {
    spared const mine;
    spared_fails = new_fails();
  }
  bool const fails = new_fails();
  disarm();
  EXPECT_FALSE(spared_fails);
  EXPECT_TRUE(fails);
}

TEST(inject, draws_by_its_seed) {
  auto const drawn = [](std::uint64_t seed) {
    std::array<bool, 64> failed{};
    arm({.kinds = of(kind::c_allocation), .one_in = 4, .seed = seed});
    for (bool& f : failed) f = malloc_fails();
    disarm();
    return failed;
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
  EXPECT_NE(drawn(1), (std::array<bool, 64>{}));
}

TEST(inject, reaches_every_kind_also_from_within_libraries) {
  for (unsigned k = 0; k < kinds; ++k) {
    auto const what = static_cast<kind>(k);
    if (test::sanitized && (what == kind::signal_stack || what == kind::thread_key)) continue;
    arm({.kinds = of(what), .first = 1, .last = plan::never});
    bool failed = false;
    switch (what) {
      case kind::allocation: failed = new_fails(); break;
      case kind::c_allocation: {
        if (test::sanitized) {  // which has a strdup of its own
          failed = malloc_fails();
          break;
        }
        char* const copy = call_strdup("within libc");
        failed = copy == nullptr;
        std::free(copy);
        break;
      }
      case kind::map: failed = map_fails(); break;
      case kind::protect: failed = ::mprotect(nullptr, 0, PROT_NONE) != 0; break;
      case kind::unmap: failed = ::munmap(nullptr, 4096) != 0 && errno == ENOMEM; break;
      case kind::advise: failed = ::madvise(nullptr, 0, MADV_NORMAL) != 0; break;
      case kind::resident: {
        unsigned char resident = 0;
        failed = ::mincore(nullptr, 0, &resident) != 0;
        break;
      }
      case kind::thread: try { std::thread{[] {}}.join();  // in libstdc++
        } catch (std::system_error const&) {
          failed = true;
        }
        break;
      case kind::pin: {
        cpu_set_t all;
        ::sched_getaffinity(0, sizeof all, &all);
        failed = ::pthread_setaffinity_np(::pthread_self(), sizeof all, &all) != 0;
        break;
      }
      case kind::signal_stack: {
        stack_t is;
        failed = ::sigaltstack(nullptr, &is) != 0;
        break;
      }
      case kind::thread_key: {
        pthread_key_t key;
        failed = ::pthread_key_create(&key, nullptr) != 0;
        break;
      }
      case kind::futex_wait: {
        std::uint32_t word = 0;
        timespec const moment{0, 1};
        failed = ::syscall(SYS_futex, &word, FUTEX_WAIT, 0, &moment, nullptr, 0) != 0 && errno != ETIMEDOUT;
        break;
      }
      case kind::futex_wake: {
        std::uint32_t word = 0;
        failed = ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0) != 0;
        break;
      }
      case kind::topology: {
        hwloc_topology_t machine;
        failed = ::hwloc_topology_init(&machine) != 0;
        break;
      }
      case kind::membarrier: failed = ::syscall(SYS_membarrier, 0, 0, 0) != 0; break;
    }
    disarm();
    EXPECT_TRUE(failed) << name(what);
    EXPECT_EQ(failures(), 1u) << name(what);
  }
}

TEST(inject, says_who_called) {
  trace first;
  keep_trace_in(&first);
  arm({.kinds = of(kind::allocation), .first = 2, .last = plan::never});
  for (int k = 0; k < 4; ++k) static_cast<void>(new_fails());
  disarm();
  keep_trace_in(nullptr);
  EXPECT_GT(first.depth, 1);
  EXPECT_EQ(first.what, kind::allocation);
  EXPECT_EQ(first.number, 2u);
}

TEST(inject, counts_what_is_live) {
  std::int64_t const before = live_blocks();
  sink = ::operator new(100, std::align_val_t{64});
  std::int64_t const with = live_blocks();
  ::operator delete(sink, std::align_val_t{64});
  EXPECT_EQ(with, before + 1);
  EXPECT_EQ(live_blocks(), before);
}

}  // namespace
