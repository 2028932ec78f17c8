// What a task starts (threads, processes, other pools) may run on every CPU that the pool may use, also if each of the pool's workers keeps
// to one CPU.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "nopal/nopal.hpp"

namespace {

using namespace std::chrono_literals;
using cpus = std::vector<int>;

/// The CPUs that a thread may use; 0 is the calling one.
cpus cpus_of(pid_t thread) {
  cpu_set_t set;
  cpus all;
  if (::sched_getaffinity(thread, sizeof set, &set) != 0) return all;
  for (int k = 0; k < CPU_SETSIZE; ++k) {
    if (CPU_ISSET(k, &set)) all.push_back(k);
  }
  return all;
}
cpus mine() { return cpus_of(0); }

bool bind(pid_t thread, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return ::sched_setaffinity(thread, sizeof set, &set) == 0;
}

/// This process's thread of that name; 0 if there is none.
pid_t thread_named(std::string const& name) {
  for (auto const& entry : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::string its;
    std::ifstream file{entry.path() / "comm"};
    if (std::getline(file, its) && its == name) return static_cast<pid_t>(std::stol(entry.path().filename().string()));
  }
  return 0;
}

template <class F>
bool soon(F f) {
  auto const limit = std::chrono::steady_clock::now() + 30s;
  while (!f()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// A process that a task starts prints what it may use: a shell's child, so two programs on.
std::string list_of_a_shell() {
  std::string said(256, '\0');
  FILE* const from = ::popen("grep Cpus_allowed_list /proc/self/status", "r");
  if (from == nullptr) return "no shell";
  said.resize(std::fread(said.data(), 1, said.size(), from));
  ::pclose(from);
  return said;
}

int status_of(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Two workers, which keep to a CPU each.
class pinning : public testing::Test {
 protected:
  void SetUp() override {
    if (before_.size() < 2) GTEST_SKIP() << "one CPU";
  }

  /// On the threads of both workers: once before the thread has slept, and again afterwards.
  void on_both_workers(std::function<void()> const& f) {
    nopal::pool pool{pinned_};
    for (int k = 0; k < 3; ++k) {
      std::uint64_t const slept = pool.stats().sleeps;
      for (unsigned i = 0; i < pool.workers(); ++i) pool.submit(on_worker, pool.worker(i), f).get();
      ASSERT_TRUE(soon([&] { return pool.stats().sleeps > slept; }));
    }
  }
  static nopal::task<> on_worker(nopal::worker_ref w, std::function<void()> f) {
    co_await nopal::resume_on(w);
    f();
  }

  cpus const before_ = mine();
  nopal::pool_options const pinned_{.workers = 2, .pin = true, .name = "pinned"};
};

TEST_F(pinning, leaves_a_task_all_cpus) {
  on_both_workers([this] { EXPECT_EQ(mine(), before_); });
}

TEST_F(pinning, leaves_a_tasks_threads_all_cpus) {
  on_both_workers([this] { std::thread{[this] { EXPECT_EQ(mine(), before_); }}.join(); });
}

TEST_F(pinning, leaves_a_forked_child_all_cpus) {
  on_both_workers([this] {
    pid_t const child = ::fork();
    if (child == 0) {
      cpu_set_t set;
      bool const read = ::sched_getaffinity(0, sizeof set, &set) == 0;
      ::_exit(read && static_cast<std::size_t>(CPU_COUNT(&set)) == before_.size() ? 0 : 1);
    }
    EXPECT_EQ(status_of(child), 0);
  });
}

TEST_F(pinning, leaves_programs_that_a_task_starts_all_cpus) {
  std::string const outside = list_of_a_shell();
  on_both_workers([&] { EXPECT_EQ(list_of_a_shell(), outside); });
}

TEST_F(pinning, leaves_a_tasks_own_pool_all_cpus) {
  unsigned const outside = nopal::pool{}.workers();
  on_both_workers([&] {
    EXPECT_EQ(nopal::pool{}.workers(), outside);
    std::thread{[&] { EXPECT_EQ(nopal::pool{}.workers(), outside); }}.join();
  });
}

TEST_F(pinning, may_be_asked_for_below_a_task) {
  on_both_workers([&] {
    std::thread{[&] {
      nopal::pool below{pinned_};
      EXPECT_EQ(below.submit(mine).get(), before_);
    }}.join();
  });
}

TEST_F(pinning, binds_each_worker_while_it_sleeps) {
  nopal::pool pool{pinned_};
  for (std::string const name : {"pinned:0", "pinned:1"}) {
    EXPECT_TRUE(soon([&] { return cpus_of(thread_named(name)).size() == 1; })) << name;
  }
  EXPECT_NE(cpus_of(thread_named("pinned:0")), cpus_of(thread_named("pinned:1")));
}

// Where threads wake up on the CPUs on which they sleep, binding them would only take time.
TEST_F(pinning, binds_no_sleeper_that_wakes_up_where_it_slept) {
  nopal::pool pool{pinned_};
  pid_t const sleeper = thread_named("pinned:0");
  std::string const stat = "/proc/self/task/" + std::to_string(sleeper) + "/stat";
  EXPECT_TRUE(soon([&] {
    pool.submit(on_worker, pool.worker(0), [] {}).get();
    std::this_thread::sleep_for(3ms);
    std::string line;
    std::ifstream file{stat};
    return std::getline(file, line) && line.find(") S ") != std::string::npos && cpus_of(sleeper) == before_;
  }));
}

TEST_F(pinning, respects_what_a_task_has_bound_its_thread_to) {
  nopal::pool pool{pinned_};
  for (int const cpu : before_) {
    std::uint64_t const slept = pool.stats().sleeps;
    pool.submit(on_worker, pool.worker(0), [&] { EXPECT_TRUE(bind(0, cpu)); }).get();
    ASSERT_TRUE(soon([&] { return pool.stats().sleeps > slept; }));
    pool.submit(on_worker, pool.worker(0), [&] { EXPECT_EQ(mine(), cpus{cpu}); }).get();
  }
}

TEST_F(pinning, respects_what_a_sleeper_was_bound_to_from_outside) {
  nopal::pool pool{pinned_};
  pid_t const sleeper = thread_named("pinned:0");
  ASSERT_TRUE(soon([&] { return cpus_of(sleeper).size() == 1; }));
  int const other = cpus_of(sleeper).front() == before_[0] ? before_[1] : before_[0];
  ASSERT_TRUE(bind(sleeper, other));
  pool.submit(on_worker, pool.worker(0), [&] { EXPECT_EQ(mine(), cpus{other}); }).get();
}

TEST_F(pinning, is_refused_off_the_makers_cpus) {
  std::thread{[this] {
    ASSERT_TRUE(bind(0, before_[1]));
    nopal::pool pool{{.workers = 1, .pin = true}};
    EXPECT_EQ(pool.submit(mine).get(), cpus{before_[1]});
    EXPECT_THROW(nopal::pool{pinned_}, std::invalid_argument);
  }}.join();
}

}  // namespace
