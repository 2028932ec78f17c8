// Machines that Linux does not describe, or describes with nonsense: they are flat.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <vector>

#include "fake_machine.hpp"
#include "nopal/core/machine/topology.hpp"

namespace {

namespace fs = std::filesystem;
using nopal::core::topology;
using test::fake_machine;
using test::spread;
using test::write_two_nodes;

void expect_flat(topology const& machine, std::vector<int> const& cpus) {
  EXPECT_TRUE(machine.is_this_machine());
  EXPECT_EQ(machine.nodes(), 1u);
  EXPECT_EQ(spread(machine), cpus);
  for (unsigned a = 0; a < machine.pus(); ++a) {
    for (unsigned b = 0; b < machine.pus(); ++b) EXPECT_EQ(machine.distance(a, b), a == b ? 0 : 1);
  }
}

TEST(linux_topology, without_any_file_the_machine_is_flat) {
  fake_machine const m;
  expect_flat(m.load({2, 5, 7}), {2, 5, 7});
  EXPECT_GE(m.load().pus(), 1u);
  expect_flat(topology::of_linux({1, 3}, "/nonexistent"), {1, 3});
}

TEST(linux_topology, a_cpu_that_nobody_names_makes_it_flat) {
  fake_machine m;
  write_two_nodes(m);
  expect_flat(m.load({2, 5, 900}), {2, 5, 900});
  expect_flat(m.load({-1, 5}), {-1, 5});
}

TEST(linux_topology, sets_that_overlap_in_part_make_it_flat) {
  std::vector<int> const four{0, 1, 2, 3};
  fake_machine m;
  m.online("0-3");
  m.core("0-1");
  m.core("2-3");
  m.nodes_online("0-1");
  m.node(0, "0-1");
  m.node(1, "2-3");
  EXPECT_EQ(m.load(four).nodes(), 2u);
  m.node(0, "0-2");
  expect_flat(m.load(four), four);  // CPU 2 is on two nodes
  m.node(1, "3");
  expect_flat(m.load(four), four);  // a core on two nodes, but not within one
  m.node(0, "0-1");
  expect_flat(m.load(four), four);  // CPU 2 is on none
  m.node(1, "2-3");
  m.write("cpu/cpu1/topology/core_cpus_list", "1-2");
  EXPECT_EQ(m.load(four).nodes(), 2u);  // CPU 1 is not read, since CPU 0 names it
  m.cache(0, "1-2");
  expect_flat(m.load(four), four);
}

TEST(linux_topology, garbage_makes_it_flat) {
  std::vector<int> const four{0, 1, 2, 3};
  for (auto const* garbage : {"x", "1-", "-1", "0-1-2", "3-0", "1,,2", "0x3", "0-1,", ",", "1 2", "99999999999999999999",
                              "0-9223372036854775808", "\n\n0", "2-3"}) {  // the last says nothing of CPU 0 itself
    SCOPED_TRACE(garbage);
    fake_machine m;
    m.online("0-3");
    m.core("0-1");
    m.core("2-3");
    m.write("cpu/cpu0/topology/core_cpus_list", garbage);
    expect_flat(m.load(four), four);
  }
}

TEST(linux_topology, garbage_is_never_counted_through) {
  std::vector<int> const two{0, 1};
  fake_machine m;
  m.online("0-1");
  m.core("0");
  m.core("1");
  m.package("0-1");
  m.write("cpu/cpu0/topology/package_cpus_list", "0-9223372036854775807");
  EXPECT_EQ(m.load(two).pus(), 2u);
  m.nodes_online("0-9223372036854775807");
  EXPECT_EQ(m.load(two).nodes(), 1u);
  m.write("cpu/online", "0-9223372036854775807");
  EXPECT_GE(m.load().pus(), 1u);
  m.write("cpu/online", "");
  EXPECT_GE(m.load().pus(), 1u);
}

TEST(linux_topology, files_that_cannot_be_opened_make_it_flat) {
  fake_machine m;
  write_two_nodes(m);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  int const next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(next, 0);
  ::close(next);
  for (unsigned const more : {0u, 1u}) {
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(next) + more;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    auto const machine = m.load({0, 8});
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    expect_flat(machine, {0, 8});
  }
}

TEST(linux_topology, leaves_no_file_open) {
  fake_machine m;
  write_two_nodes(m);
  auto const count = [] { return std::distance(fs::directory_iterator{"/proc/self/fd"}, fs::directory_iterator{}); };
  auto const before = count();
  for (int i = 0; i < 3; ++i) static_cast<void>(m.load());
  EXPECT_EQ(count(), before);
}

}  // namespace
