// The CPUs that the process may use: affinity mask, cgroup quota of both versions, and files that are missing or malformed.

#include "nopal/core/machine/cpus.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using nopal::core::cpu_limits;

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// A made-up /proc/self/cgroup and /sys/fs/cgroup.
class cgroup_quota : public testing::Test {
 protected:
  cgroup_quota() {
    std::string name = testing::TempDir() + "nopal_cgroup_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
    folder_ = name;
  }
  ~cgroup_quota() override { fs::remove_all(folder_); }

  void write(fs::path const& file, std::string const& text) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream{folder_ / file} << text;
  }
  double quota() const { return nopal::core::read_cgroup_quota(folder_ / "self", folder_ / "root"); }

  fs::path folder_;
};

TEST_F(cgroup_quota, is_unlimited_without_any_file) { EXPECT_EQ(quota(), unlimited); }

TEST_F(cgroup_quota, is_unlimited_if_the_list_of_groups_is_garbled) {
  for (auto const* text : {"", "\n\n", ":", "::", "0", "0:", "0:/a", "4:cpu", "garbage\n\x01\x02\xff", "x:y:z"}) {
    write("self", text);
    write("root/cpu.max", "100000 100000\n");
    EXPECT_EQ(quota(), unlimited) << text;
  }
}

TEST_F(cgroup_quota, v2_is_quota_over_period) {
  write("self", "0::/a\n");
  write("root/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
  write("root/a/cpu.max", "25000 50000\n");
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(cgroup_quota, v2_max_means_unlimited) {
  write("self", "0::/a\n");
  write("root/a/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), unlimited);
}

TEST_F(cgroup_quota, v2_takes_the_smallest_of_the_group_and_all_ancestors) {
  write("self", "0::/a/b/c\n");
  write("root/a/b/c/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota(), 8);
  write("root/a/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3);
  write("root/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 3);
  write("root/a/b/c/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
  write("root/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 1);
}

TEST_F(cgroup_quota, v2_ignores_groups_that_are_not_ours) {
  write("self", "0::/a/b\n");
  write("root/a/b/child/cpu.max", "100000 100000\n");
  write("root/a/sibling/cpu.max", "100000 100000\n");
  write("root/b/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), unlimited);
}

TEST_F(cgroup_quota, v2_root_group_has_the_root_file) {
  // A container with a cgroup namespace reads "/" and has its own limit there.
  write("self", "0::/\n");
  write("root/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 4);
}

TEST_F(cgroup_quota, a_path_from_outside_the_container_ends_at_the_root_that_is_mounted) {
  write("self", "0::/docker/0123abcd\n");
  write("root/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 4);
}

TEST_F(cgroup_quota, a_group_outside_the_namespace_cannot_be_seen) {
  write("self", "0::/../../other\n");
  write("root/cpu.max", "100000 100000\n");
  write("other/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), unlimited);
}

TEST_F(cgroup_quota, a_group_may_have_colons_in_its_name) {
  write("self", "0::/a:b:c\n");
  write("root/a:b:c/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 1);
}

TEST_F(cgroup_quota, v2_garbage_means_unlimited) {
  write("self", "0::/a\n");
  for (auto const* text : {"", "\n", "max", "100000", "abc 100000", "100000 abc", "1e5 100000", "100000x 100000", "0 100000", "-1 100000",
                           "100000 0", "100000 -5", "99999999999999999999999 1", "\xff\xfe"}) {
    write("root/a/cpu.max", text);
    EXPECT_EQ(quota(), unlimited) << text;
  }
}

TEST_F(cgroup_quota, garbage_in_one_group_does_not_hide_the_limit_of_another) {
  write("self", "0::/a/b\n");
  write("root/a/b/cpu.max", "garbage");
  write("root/a/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(cgroup_quota, a_folder_in_place_of_a_file_means_unlimited) {
  write("self", "0::/a\n");
  fs::create_directories(folder_ / "root/a/cpu.max");
  EXPECT_EQ(quota(), unlimited);
}

TEST_F(cgroup_quota, v1_is_quota_over_period) {
  write("self", "9:name=systemd:/a\n4:cpu:/a\n3:cpuset:/a\n");
  write("root/cpu/a/cpu.cfs_quota_us", "250000\n");
  write("root/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 2.5);
}

TEST_F(cgroup_quota, v1_minus_one_means_unlimited) {
  write("self", "4:cpu:/a\n");
  write("root/cpu/a/cpu.cfs_quota_us", "-1\n");
  write("root/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), unlimited);
}

TEST_F(cgroup_quota, v1_takes_the_smallest_of_the_group_and_all_ancestors) {
  write("self", "4:cpu:/a/b\n");
  write("root/cpu/a/b/cpu.cfs_quota_us", "-1\n");
  write("root/cpu/a/b/cpu.cfs_period_us", "100000\n");
  write("root/cpu/a/cpu.cfs_quota_us", "100000\n");
  write("root/cpu/a/cpu.cfs_period_us", "50000\n");
  EXPECT_EQ(quota(), 2);
  write("root/cpu/cpu.cfs_quota_us", "100000\n");
  write("root/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 1);
}

TEST_F(cgroup_quota, v1_finds_the_controller_in_a_shared_hierarchy) {
  for (auto const* controllers : {"cpu,cpuacct", "cpuacct,cpu"}) {
    write("self", "4:" + std::string{controllers} + ":/a\n");
    auto const group = fs::path{"root"} / controllers / "a";
    write(group / "cpu.cfs_quota_us", "300000\n");
    write(group / "cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(quota(), 3) << controllers;
    fs::remove_all(folder_ / "root");
  }
  write("root/cpu/a/cpu.cfs_quota_us", "200000\n");
  write("root/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 2) << "by the link for the controller alone";
}

TEST_F(cgroup_quota, v1_ignores_other_controllers) {
  write("self", "4:cpuset,cpuacct:/a\n");
  for (auto const* controllers : {"cpuset,cpuacct", "cpu"}) {
    auto const group = fs::path{"root"} / controllers / "a";
    write(group / "cpu.cfs_quota_us", "100000\n");
    write(group / "cpu.cfs_period_us", "100000\n");
  }
  EXPECT_EQ(quota(), unlimited);
}

TEST_F(cgroup_quota, v1_with_one_file_missing_or_garbled_means_unlimited) {
  write("self", "4:cpu:/a\n");
  write("root/cpu/a/cpu.cfs_quota_us", "100000\n");
  EXPECT_EQ(quota(), unlimited);
  write("root/cpu/a/cpu.cfs_period_us", "often\n");
  EXPECT_EQ(quota(), unlimited);
}

TEST_F(cgroup_quota, hybrid_takes_the_smaller_of_both_versions) {
  write("self", "4:cpu:/a\n0::/b\n");
  write("root/cpu/a/cpu.cfs_quota_us", "400000\n");
  write("root/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 4);
  write("root/unified/b/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3);
}

cpu_limits limits_of(std::size_t cpus, double quota) {
  cpu_limits limits;
  limits.cpus.resize(cpus);
  limits.quota = quota;
  return limits;
}

TEST(cpu_limits, usable_is_the_smaller_of_mask_and_quota_rounded_up_and_at_least_one) {
  EXPECT_EQ(limits_of(8, unlimited).usable(), 8u);
  EXPECT_EQ(limits_of(8, 16).usable(), 8u);
  EXPECT_EQ(limits_of(8, 2).usable(), 2u);
  EXPECT_EQ(limits_of(8, 2.01).usable(), 3u);
  EXPECT_EQ(limits_of(8, 1.5).usable(), 2u);
  EXPECT_EQ(limits_of(8, 0.1).usable(), 1u);
  EXPECT_EQ(limits_of(1, 4).usable(), 1u);
  EXPECT_EQ(limits_of(0, unlimited).usable(), 1u);
}

TEST(cpu_limits, online_list_is_read_in_the_kernels_format) {
  using nopal::core::holds_every_cpu;
  std::vector<int> const cpus{0, 1, 2, 3, 8};
  for (auto const* held : {"0", "0-3", "0-3,8", "0-3,8\n", "0,1,2,3,8", "8", "2-2"}) {
    EXPECT_TRUE(holds_every_cpu(cpus, held)) << held;
  }
  for (auto const* not_held : {"0-4", "0-3,7", "9", "0-2000000000"}) EXPECT_FALSE(holds_every_cpu(cpus, not_held)) << not_held;
  for (auto const* garbled : {"", "\n", ",", "3-0", "-1", "a", "0-b", "0 1", "0,"}) {
    EXPECT_FALSE(holds_every_cpu(cpus, garbled)) << garbled;
  }
}

/// A kernel built for 5000 CPUs. The process may use three.
int large_kernel(pid_t, std::size_t bytes, cpu_set_t* mask) {
  if (bytes * 8 < 5000) {
    errno = EINVAL;
    return -1;
  }
  for (std::size_t cpu : {3u, 1024u, 4999u}) CPU_SET_S(cpu, bytes, mask);
  return 0;
}

TEST(affinity, grows_the_mask_for_more_than_1024_cpus) {
  EXPECT_EQ(nopal::core::read_affinity(large_kernel), (std::vector<int>{3, 1024, 4999}));
}

TEST(affinity, is_empty_if_the_kernel_refuses) {
  auto const refuses = [](pid_t, std::size_t, cpu_set_t*) {
    errno = EPERM;
    return -1;
  };
  auto const never_enough = [](pid_t, std::size_t, cpu_set_t*) {
    errno = EINVAL;
    return -1;
  };
  EXPECT_TRUE(nopal::core::read_affinity(refuses).empty());
  EXPECT_TRUE(nopal::core::read_affinity(never_enough).empty());
}

TEST(read_cpu_limits, is_sane_here) {
  auto const limits = nopal::core::read_cpu_limits();
  ASSERT_FALSE(limits.cpus.empty());
  EXPECT_TRUE(std::is_sorted(limits.cpus.begin(), limits.cpus.end()));
  EXPECT_GE(limits.cpus.front(), 0);
  EXPECT_GT(limits.quota, 0);
  EXPECT_GE(limits.usable(), 1u);
  EXPECT_LE(limits.usable(), limits.cpus.size());
  if (limits.whole_machine) {
    EXPECT_EQ(limits.usable(), limits.cpus.size());
  }
}

TEST(read_cpu_limits, counts_only_the_cpus_of_the_calling_thread) {
  auto const all = nopal::core::read_cpu_limits();
  cpu_limits one;
  // In a thread of its own, so that the mask ends with it.
  std::thread{[&] {
    auto const last = static_cast<std::size_t>(all.cpus.back());
    cpu_set_t* mask = CPU_ALLOC(last + 1);
    auto const bytes = CPU_ALLOC_SIZE(last + 1);
    CPU_ZERO_S(bytes, mask);
    CPU_SET_S(last, bytes, mask);
    ASSERT_EQ(sched_setaffinity(0, bytes, mask), 0);
    CPU_FREE(mask);
    one = nopal::core::read_cpu_limits();
  }}.join();
  EXPECT_EQ(one.cpus, std::vector<int>{all.cpus.back()});
  EXPECT_EQ(one.usable(), 1u);
  if (all.cpus.size() > 1) {
    EXPECT_FALSE(one.whole_machine);
  }
  EXPECT_EQ(nopal::core::read_cpu_limits().cpus, all.cpus);
}

}  // namespace
