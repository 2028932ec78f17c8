// Many native stacks: how many wait at once, the message of a pool that has no more, and what the program can still do then.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "../rests.hpp"
#include "../scale.hpp"
#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"

namespace {

std::atomic<bool> no_markers{false};  // the kernel knows no MADV_GUARD_INSTALL
std::atomic<unsigned long> looks{0};  // calls of mincore
constexpr int guard_install = 102;

}  // namespace

// In the place of libc's.
extern "C" int madvise(void* at, std::size_t bytes, int advice) noexcept {
  if (advice == guard_install && no_markers) {
    errno = EINVAL;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_madvise, at, bytes, advice));
}

extern "C" int mincore(void* at, std::size_t bytes, unsigned char* resident) noexcept {
  ++looks;
  return static_cast<int>(::syscall(SYS_mincore, at, bytes, resident));
}

namespace {

using nopal::core::stack;
using nopal::core::stack_pool;

std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

bool kernel_has_markers() {
  void* const at = ::mmap(nullptr, page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  bool const has = ::madvise(at, page(), guard_install) == 0;
  ::munmap(at, page());
  return has && !test::emulated();
}

long mappings() {
  std::ifstream maps{"/proc/self/maps"};
  long n = 0;
  for (std::string line; std::getline(maps, line);) ++n;
  return n;
}

long most_mappings() {
  long n = 0;
  std::ifstream{"/proc/sys/vm/max_map_count"} >> n;
  return n;
}

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream{"/proc/self/statm"} >> all >> resident;
  return resident * page();
}

// The number of fibers that the large tests park, or NOPAL_TEST_STACKS. 10^6 take 5 GiB, and 2 GiB of page tables if a stack has 1 MiB.
long many() {
  char const* const asked = std::getenv("NOPAL_TEST_STACKS");
  return asked != nullptr ? std::atol(asked) : test::scaled(100'000);
}

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }

// What the process writes on stderr while it lives is written to a file, which the test reads; then it is written to stderr.
class watched_stderr {
 public:
  watched_stderr() : before_{::dup(STDERR_FILENO)}, file_{std::tmpfile()} { ::dup2(::fileno(file_), STDERR_FILENO); }
  watched_stderr(watched_stderr const&) = delete;
  watched_stderr& operator=(watched_stderr const&) = delete;
  bool something_was_said() const {
    struct stat s{};
    return ::fstat(::fileno(file_), &s) == 0 && s.st_size != 0;
  }
  ~watched_stderr() {
    ::dup2(before_, STDERR_FILENO);
    std::rewind(file_);
    std::vector<char> text(4096);
    std::size_t const n = std::fread(text.data(), 1, text.size(), file_);
    std::fwrite(text.data(), 1, n, stderr);
  }

 private:
  int before_;
  std::FILE* file_;
};

[[noreturn]] void end(bool well) {
  std::fflush(nullptr);
  std::_Exit(well ? 0 : 1);
}

// Parks fibers until the pool has no stack for the next; calls `then`; and lets all of them end.
template <class Then>
[[noreturn]] void park_until_refused(nopal::pool_options const& options, long fibers, Then then) {
  bool well = true;
  std::atomic<long> ended{0};
  {
    watched_stderr const watched;
    nopal::pool pool{options};
    nopal::counter gate{1}, all;
    pool.run([&] {
      for (long k = 0; k < fibers; ++k) {
        nopal::spawn(all, [&] {
          nopal::wait_for(gate);
          ++ended;
        });
      }
    });
    while (!watched.something_was_said()) nap();
    well = then();
    gate.done();
    nopal::wait_for(all);
  }
  end(well && ended == fibers);
}

class many_stacks : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = test::death_test_style(); }
};
using many_stacks_death = many_stacks;

TEST_F(many_stacks, wait_at_once_in_few_mappings) {
  if (!kernel_has_markers()) GTEST_SKIP() << "here each guard page is a mapping";
#if NOPAL_TSAN
  GTEST_SKIP() << "ThreadSanitizer makes mappings for each stack";
#endif
  for (std::size_t const size : {std::size_t{64} << 10, std::size_t{1} << 20}) {
    nopal::pool pool{{.workers = 2, .stack_size = size}};
    nopal::counter gate{1}, all;
    std::atomic<long> parked{0};
    long const before = mappings();
    pool.run([&] {
      for (long k = 0; k < many(); ++k) {
        nopal::spawn(all, [&] {
          ++parked;
          nopal::wait_for(gate);
        });
      }
    });
    while (parked < many()) nap();
    EXPECT_LT(mappings() - before, 1000 + many() / 100);
    gate.done();
    nopal::wait_for(all);
  }
}

void nest(long depth, std::atomic<long>& deepest) {
  ++deepest;
  if (depth == 0) return;
  nopal::counter left;
  nopal::spawn(left, [&] { nest(depth - 1, deepest); });
  nopal::wait_for(left);
}

TEST_F(many_stacks, let_fibers_that_wait_for_fibers_nest) {
  if (!kernel_has_markers()) GTEST_SKIP() << "here each guard page is a mapping";
  nopal::pool pool{{.workers = 2, .stack_size = std::size_t{64} << 10}};
  std::atomic<long> deepest{0};
  pool.run([&] { nest(many(), deepest); });
  EXPECT_EQ(deepest, many() + 1);
}

// A stack's pages that were given back by a new mapping, or by advice, are parts of the same mapping as before.
TEST_F(many_stacks, stay_few_mappings_when_their_pages_go_back) {
  if (!kernel_has_markers()) GTEST_SKIP() << "here each guard page is a mapping";
  for (auto const how : {nopal::reclaim::dontneed, nopal::reclaim::free, nopal::reclaim::remap}) {
    constexpr std::size_t size = 256 << 10, stacks = 500;
    stack_pool pool{size, how, stacks};
    std::vector<stack*> all;
    for (std::size_t k = 0; k < stacks; ++k) all.push_back(pool.get());
    long const before = mappings();
    for (stack* const s : all) {
      ASSERT_NE(s, nullptr);
      std::byte* const from = s->low() + size / 4;  // a stack is used from its top down
      std::memset(from, 1, static_cast<std::size_t>(s->high_water_page() - from));
      pool.give_back(*s);
    }
    EXPECT_GE(pool.counts().pages_returned, stacks * size / 2 / page());
    EXPECT_LT(mappings(), before + 20);
    for (stack* const s : all) pool.put(s);
  }
}

TEST_F(many_stacks, have_places_that_are_used_again_and_hold_nothing_meanwhile) {
  constexpr std::size_t size = 256 << 10, stacks = 600;
  stack_pool pool{size, nopal::reclaim::dontneed, 0};
  for (int again = 0; again < 3; ++again) {
    std::size_t const before = resident_bytes();
    std::vector<stack*> all;
    for (std::size_t k = 0; k < stacks; ++k) {
      all.push_back(pool.get());
      ASSERT_NE(all.back(), nullptr);
      EXPECT_EQ(*all.back()->low(), std::byte{0}) << "the page of an earlier stack";
      std::memset(all.back()->low(), 1, size / 2);
    }
    EXPECT_GT(resident_bytes(), before + stacks * size / 4);
    stack* const kept = all[stacks / 2];  // its region stays
    for (stack* const s : all)
      if (s != kept) pool.put(s);
    if (!test::sanitized) {
      EXPECT_LT(resident_bytes(), before + stacks * size / 8);
    }
    EXPECT_EQ(pool.counts().live, 1u);
    pool.put(kept);
  }
}

[[noreturn]] void use_up_mappings(long most) {
  no_markers = true;
  park_until_refused({.workers = 2, .stack_size = std::size_t{64} << 10}, most, [] {
    // The rest is enough for a thread and for 2000 mappings that differ from their neighbours.
    std::thread{[] {}}.join();
    for (int k = 0; k < 1000; ++k) {
      void* const at = ::mmap(nullptr, 2 * page(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (at == MAP_FAILED || ::mprotect(at, page(), PROT_NONE) != 0) return false;
    }
    return true;
  });
}

TEST_F(many_stacks_death, end_with_a_line_where_the_kernel_has_no_more_mappings) {
  long const most = most_mappings();
  if (test::sanitized || test::emulated()) GTEST_SKIP() << "whose own mappings count too";
  if (most == 0 || most > 200'000) GTEST_SKIP() << "vm.max_map_count is so high that the test would take too much memory";
  EXPECT_EXIT(use_up_mappings(most), testing::ExitedWithCode(0),
              "nopal: no memory for another native stack: this pool has [0-9]+, of 65536 bytes each, and the process has [0-9]+ of the "
              "[0-9]+ mappings "
              "that vm.max_map_count allows, and [0-9]+ are left to the program; raise it");
}

[[noreturn]] void use_up_address_space() {
  std::size_t all = 0;
  std::ifstream{"/proc/self/statm"} >> all;
  rlimit const low{all * page() + (std::size_t{512} << 20), RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &low);
  park_until_refused({.workers = 2}, 2000, [] { return true; });
}

TEST_F(many_stacks_death, end_with_a_line_where_address_space_is_limited) {
  if (test::sanitized || test::emulated()) GTEST_SKIP() << "whose shadow memory does not fit under a limit";
  EXPECT_EXIT(use_up_address_space(), testing::ExitedWithCode(0),
              "this pool has [0-9]+, of 1048576 bytes each, and the process has [0-9]+ of the [0-9]+ bytes that RLIMIT_AS .ulimit -v. "
              "allows; raise "
              "that");
}

long fib_by_scopes(int n) {
  if (n < 2) return n;
  long a = 0;
  nopal::scope s;
  s.fork([&] { a = fib_by_scopes(n - 1); });
  long const b = fib_by_scopes(n - 2);
  s.join();
  return a + b;
}
long fib_by_halves(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = fib_by_halves(n - 1); }, [&] { b = fib_by_halves(n - 2); });
  return a + b;
}

[[noreturn]] void fork_without_stacks() {
  nopal::pool pool{{.workers = 2}};
  std::size_t all = 0;
  std::ifstream{"/proc/self/statm"} >> all;
  rlimit const low{all * page() + (std::size_t{1} << 20), RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &low);
  bool well = true;
  for (int k = 0; k < 20; ++k) well = well && pool.run(fib_by_scopes, 18) == 2584 && pool.run(fib_by_halves, 18) == 2584;
  end(well);
}

// Serial forks need no stack.
TEST_F(many_stacks_death, are_not_needed_by_forks) {
  if (test::sanitized || test::emulated()) GTEST_SKIP() << "whose shadow memory does not fit under a limit";
  EXPECT_EXIT(fork_without_stacks(), testing::ExitedWithCode(0), "");
}

[[noreturn]] void park_in_locked_memory(bool locked_first) {
  auto const lock = [] {
    if (::mlockall(MCL_CURRENT | MCL_FUTURE) == 0) return;
    std::fputs("not allowed\n", stderr);
    end(true);
  };
  if (locked_first) lock();
  nopal::pool pool{{.workers = 2}};
  if (!locked_first) lock();
  constexpr long fibers = 1000;
  nopal::counter gate{1}, all;
  std::atomic<long> parked{0};
  std::size_t const before = resident_bytes();
  pool.run([&] {
    for (long k = 0; k < fibers; ++k) {
      nopal::spawn(all, [&] {
        ++parked;
        nopal::wait_for(gate);
      });
    }
  });
  while (parked < fibers) nap();
  std::size_t const took = resident_bytes() - before;
  gate.done();
  nopal::wait_for(all);
  std::fprintf(stderr, "took %zu KiB\n", took >> 10);
  end(took < std::size_t{64} << 20);
}

// The pages below a fiber that waits are given back to the system, and each is a page fault when the fiber runs again. So a fiber should
// wait on the first page of its stack, and its callers must leave most of that.
TEST_F(many_stacks, a_fiber_begins_on_the_first_page_of_its_stack) {
  if (test::sanitized) GTEST_SKIP() << "whose frames are larger";
  nopal::pool pool{{.workers = 1}};
  std::vector<std::size_t> depths;
  pool.run([&] {
    nopal::counter done;
    for (int i = 0; i < 8; ++i) {
      nopal::spawn(done, [&] {
        auto const top = reinterpret_cast<std::uintptr_t>(nopal::core::current()->here->top());
        depths.push_back(top - nopal::core::stack_pointer());
        nopal::yield();  // the next one begins on another stack
      });
    }
    nopal::wait_for(done);
  });
  ASSERT_EQ(depths.size(), 8u);
  for (std::size_t const depth : depths) EXPECT_LT(depth, 2048u);
}

// A real-time program locks all memory, also future mappings. Stacks are locked as they are touched, page by page.
TEST_F(many_stacks_death, take_only_what_is_touched_where_the_program_has_locked_its_memory) {
  if (test::sanitized || test::emulated()) GTEST_SKIP() << "which locks nothing";
  for (bool const locked_first : {true, false}) {
    EXPECT_EXIT(park_in_locked_memory(locked_first), testing::ExitedWithCode(0), "not allowed|took [0-9]+ KiB");
  }
}

// A thread that is about to sleep checks how much its deque holds, which has room for as many forks as fit on a stack: of 65,000 pieces of
// 2 MiB here. Each new stack that is put away takes 512 looks, at its topmost GiB, and there are some of them.
TEST_F(many_stacks, a_worker_of_huge_stacks_goes_to_sleep_with_few_system_calls) {
  if (test::sanitized || test::emulated()) GTEST_SKIP() << "whose shadow memory does not fit into the machine";
  std::optional<nopal::pool> pool;
  try {
    pool.emplace(nopal::pool_options{.workers = 2, .stack_size = std::size_t{1} << 40});
  } catch (std::system_error const& e) {
    GTEST_SKIP() << e.what();  // there is no room for such stacks
  }
  looks = 0;
  constexpr int rounds = 10;
  for (int k = 0; k < rounds; ++k) {
    pool->run([] { nopal::parallel_invoke([] {}, [] {}); });
    EXPECT_TRUE(test::rests());
  }
  EXPECT_LT(looks, 1000u * rounds);
}

}  // namespace
