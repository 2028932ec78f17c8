// How many threads may still be started, from made-up files; and a pool that wants more reports it at once.

#include "nopal/core/machine/cpus.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "nopal/pool.hpp"

namespace {

namespace fs = std::filesystem;
using nopal::core::limit_below;
using nopal::core::read_thread_limits;
using nopal::core::thread_limit;

/// A made-up /proc and /sys/fs/cgroup.
class thread_limits : public testing::Test {
 protected:
  thread_limits() {
    std::string name = testing::TempDir() + "nopal_limits_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
    folder_ = name;
  }
  ~thread_limits() override { fs::remove_all(folder_); }

  void write(fs::path const& file, std::string const& text) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream{folder_ / file} << text;
  }
  /// The limit with a name that ends so; one with most = 0 if there is none.
  thread_limit limit(std::string const& name) const {
    for (thread_limit const& l : read_thread_limits({folder_ / "proc", folder_ / "cgroup"})) {
      if (l.name.ends_with(name)) return l;
    }
    return {};
  }

  fs::path folder_;
};

TEST_F(thread_limits, what_is_missing_or_garbled_does_not_limit) {
  EXPECT_EQ(limit("threads-max").most, 0u);
  write("proc/sys/kernel/threads-max", "many\n");
  write("proc/self/cgroup", "0::/a\n3:pids:/b\n:::\n\n");
  write("cgroup/a/pids.max", "max\n");
  EXPECT_EQ(limit("threads-max").most, 0u);
  EXPECT_EQ(limit("pids.max").most, 0u);
}

TEST_F(thread_limits, of_the_system) {
  write("proc/loadavg", "0.1 0.2 0.3 4/150 999\n");
  write("proc/sys/kernel/threads-max", "1000\n");
  write("proc/sys/kernel/pid_max", "400\n");
  EXPECT_EQ(limit("threads-max").room(), 850u);
  EXPECT_EQ(limit("pid_max").room(), 250u);
  EXPECT_EQ(limit("pid_max").in_words(), "kernel.pid_max is 400 threads and processes of the whole system, of which 150 are in use");
}

TEST_F(thread_limits, of_mappings) {
  write("proc/sys/vm/max_map_count", "100\n");
  write("proc/self/maps", std::string(20, '\n'));
  EXPECT_EQ(limit("max_map_count").used, 20u);
  EXPECT_EQ(limit("max_map_count").room(), 10u);
  write("proc/self/maps", std::string(200, '\n'));
  EXPECT_EQ(limit("max_map_count").room(), 0u);
}

TEST_F(thread_limits, of_cgroups_and_their_ancestors) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("cgroup/a/pids.max", "50\n");
  write("cgroup/a/pids.current", "20\n");
  write("cgroup/a/b/pids.max", "max\n");
  EXPECT_EQ(limit("/a/pids.max").room(), 30u);
  write("proc/self/cgroup", "8:pids:/c\n");
  write("cgroup/pids/c/pids.max", "7\n");
  write("proc/self/status", "Name:\tx\nThreads:\t3\n");
  EXPECT_EQ(limit("/c/pids.max").room(), 4u);  // without a count the process's own threads are the least
}

TEST_F(thread_limits, the_one_with_the_least_room_counts) {
  std::vector<thread_limit> const limits{{"a", "", "", 100, 0, 1}, {"b", "", "", 100, 20, 8}, {"c", "", "", 30, 0, 1}};
  EXPECT_EQ(limit_below(limits, 11)->name, "b");
  EXPECT_FALSE(limit_below(limits, 10));
  EXPECT_FALSE(limit_below({}, 1));
}

// More workers than most systems allow, though pool_options allows them.
TEST(thread_limits_of_this_machine, a_pool_names_the_limit_that_it_meets) {
  auto const limit = limit_below(read_thread_limits(), 16384);
  if (!limit) GTEST_SKIP() << "this machine lets a process have 16384 workers";
  try {
    nopal::pool pool{{.workers = 16384}};
    FAIL() << "was made, though " << limit->in_words();
  } catch (std::system_error const& e) {
    std::string const said = e.what();
    EXPECT_NE(said.find("workers = 16384"), said.npos) << said;
    EXPECT_NE(said.find(limit->name + " is " + std::to_string(limit->most)), said.npos) << said;
    EXPECT_NE(said.find(limit->remedy), said.npos) << said;
  }
}

}  // namespace
