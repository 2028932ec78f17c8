// Where threads fall asleep, and whose place a thread from outside takes. The system wakes a thread where it fell asleep, as a rule: so the
// threads of a pool sleep on different CPUs, also if they are not bound, and a caller leaves those that sleep on other CPUs than its own.

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "nopal/nopal.hpp"

namespace {

using namespace std::chrono_literals;

struct thread_now {
  char state = '?';  ///< as the system calls it: S sleeps
  int cpu = -1;      ///< on which it runs, or has run last
};

/// What this process's thread of that name does.
thread_now look_at(std::string const& name) {
  for (auto const& entry : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::string line;
    std::ifstream file{entry.path() / "stat"};
    if (!std::getline(file, line) || line.find("(" + name + ")") == line.npos) continue;
    std::istringstream fields{line.substr(line.rfind(')') + 1)};
    thread_now t;
    fields >> t.state;
    std::string skipped;
    for (int field = 4; field < 39; ++field) fields >> skipped;
    fields >> t.cpu;
    return t;
  }
  return {};
}

bool bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

/// A pool of two that is not pinned, since another one of the process is.
class sleeping_place : public testing::Test {
 protected:
  void SetUp() override {
    if (std::thread::hardware_concurrency() < 2 || nopal::pool{}.workers() < 2) GTEST_SKIP() << "one CPU";
  }

  /// Both threads have run something at once, and sleep again. Returns their CPUs.
  std::array<int, 2> rest_after_work() {
    std::atomic<int> met{0};
    auto const meet = [&] {
      ++met;
      while (met != 2) std::this_thread::yield();
    };
    auto one = pool_.submit(meet);
    auto other = pool_.submit(meet);
    one.get();
    other.get();
    for (;;) {
      std::this_thread::sleep_for(2ms);
      thread_now const a = look_at("second:0"), b = look_at("second:1");
      if (a.state == 'S' && b.state == 'S') return {a.cpu, b.cpu};
    }
  }

  nopal::pool first_;
  nopal::pool pool_{nopal::pool_options{.workers = 2, .name = "second"}};
};

// By chance it would be every second time, and after a meeting, from which both go to sleep at once, more often.
TEST_F(sleeping_place, of_two_threads_differs) {
  int apart = 0;
  for (int k = 0; k < 40; ++k) {
    auto const [a, b] = rest_after_work();
    apart += a != b ? 1 : 0;
  }
  EXPECT_GE(apart, 36);
}

TEST_F(sleeping_place, beside_the_callers_is_left_asleep) {
  int as_it_should = 0;
  std::thread{[&] {
    for (int k = 0; k < 40; ++k) {
      auto const cpu_of = rest_after_work();
      ASSERT_TRUE(bind_to(cpu_of[k % 2 == 0 ? 0 : 1]));
      unsigned const taken = pool_.run([] { return nopal::this_worker::index(); });
      as_it_should += cpu_of[taken] == ::sched_getcpu() ? 1 : 0;
    }
  }}.join();
  EXPECT_GE(as_it_should, 36);
}

}  // namespace
