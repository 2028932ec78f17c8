// nopal reads machines as Linux describes them.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "fake_machine.hpp"
#include "nopal/core/machine/topology.hpp"

namespace {

namespace fs = std::filesystem;
using nopal::core::place;
using nopal::core::topology;
using test::fake_machine;
using test::spread;
using test::write_hybrid;
using test::write_large;
using test::write_two_nodes;

/// By the CPUs' names, not by their places in the tree.
int distance(topology const& machine, int a, int b) {
  auto const places = machine.spread(machine.pus());
  auto const of = [&](int cpu) { return std::find_if(places.begin(), places.end(), [&](place const& p) { return p.cpu == cpu; })->pu; };
  return machine.distance(of(a), of(b));
}

TEST(linux_topology, two_nodes_of_two_packages) {
  fake_machine m;
  write_two_nodes(m);
  auto const machine = m.load();
  EXPECT_TRUE(machine.is_this_machine());
  EXPECT_EQ(machine.nodes(), 2u);
  EXPECT_EQ(spread(machine), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  for (auto const& where : machine.spread(16)) EXPECT_EQ(where.node, where.cpu % 8 < 4 ? 0u : 1u) << where.cpu;
  EXPECT_EQ(distance(machine, 0, 8), 1);  // a core
  EXPECT_EQ(distance(machine, 0, 9), 2);  // a package
  EXPECT_EQ(distance(machine, 0, 2), 3);  // a node
  EXPECT_EQ(distance(machine, 0, 4), 4);  // the machine
}

TEST(linux_topology, clusters_of_slow_cores_beside_fast_ones) {
  fake_machine m;
  write_hybrid(m);
  auto const machine = m.load();
  EXPECT_EQ(machine.nodes(), 1u);
  EXPECT_EQ(spread(machine), (std::vector<int>{0, 2, 4, 5, 6, 7, 8, 9, 10, 11, 1, 3}));
  EXPECT_EQ(distance(machine, 0, 1), 1);
  EXPECT_EQ(distance(machine, 4, 7), 1);
  EXPECT_EQ(distance(machine, 4, 8), 2);
  EXPECT_EQ(distance(machine, 0, 4), 2);
}

TEST(linux_topology, more_cpus_than_a_word_has_bits) {
  fake_machine m;
  write_large(m);
  auto const machine = m.load();
  EXPECT_EQ(machine.pus(), 96u);
  EXPECT_EQ(machine.nodes(), 4u);
  std::vector<int> in_order(96);
  std::iota(in_order.begin(), in_order.end(), 0);
  EXPECT_EQ(spread(machine), in_order);
  EXPECT_EQ(distance(machine, 0, 48), 1);
  EXPECT_EQ(distance(machine, 0, 53), 2);
  EXPECT_EQ(distance(machine, 0, 11), 3);
  EXPECT_EQ(distance(machine, 0, 12), 4);
  EXPECT_EQ(distance(machine, 0, 95), 5);
}

TEST(linux_topology, is_restricted_to_what_is_allowed) {
  fake_machine m;
  write_two_nodes(m);
  auto const machine = m.load({1, 2, 9, 10, 14});
  EXPECT_EQ(machine.nodes(), 2u);
  EXPECT_EQ(spread(machine), (std::vector<int>{1, 2, 14, 9, 10}));
  EXPECT_EQ(distance(machine, 1, 9), 1);
  EXPECT_EQ(distance(machine, 1, 2), 2);
  EXPECT_EQ(distance(machine, 1, 14), 3);

  auto const second = m.load({5, 6});
  EXPECT_EQ(second.nodes(), 1u);
  for (auto const& where : second.spread(2)) EXPECT_EQ(where.node, 0u);
  EXPECT_EQ(distance(second, 5, 6), 1);

  auto const one = m.load({7});
  EXPECT_EQ(one.nodes(), 1u);
  EXPECT_EQ(spread(one), std::vector<int>{7});
}

TEST(linux_topology, has_no_cpus_that_are_offline) {
  fake_machine m;
  write_two_nodes(m);
  // As the kernel does: no topology, no cache, in no other CPU's list.
  for (int const cpu : {3, 8}) fs::remove_all(m.sys() + "/devices/system/cpu/cpu" + std::to_string(cpu));
  m.online("0-2,4-7,9-15");
  m.core("0");
  m.core("11");
  for (int const index : {0, 1}) {
    m.cache(index, "0");
    m.cache(index, "11");
  }
  for (auto const* cpus : {"0-1,9", "2,10-11"}) {
    m.package(cpus);
    m.cache(2, cpus);
  }
  m.node(0, "0-2,9-11");
  auto const machine = m.load();
  EXPECT_EQ(machine.nodes(), 2u);
  EXPECT_EQ(spread(machine), (std::vector<int>{0, 1, 2, 11, 4, 5, 6, 7, 9, 10, 12, 13, 14, 15}));
  EXPECT_EQ(distance(machine, 0, 1), 2);
  EXPECT_EQ(distance(machine, 1, 9), 1);
}

TEST(linux_topology, memory_without_cpus_is_no_node) {
  fake_machine m;
  write_two_nodes(m);
  m.nodes_online("0-2,7");
  m.node(2, "");
  m.node(7, "");
  EXPECT_EQ(m.load().nodes(), 2u);
  EXPECT_EQ(m.load({4, 5}).nodes(), 1u);
}

TEST(linux_topology, nodes_are_dense_whatever_their_numbers) {
  fake_machine m;
  m.online("0-3");
  m.nodes_online("0,8,255");
  m.node(0, "");
  m.node(8, "2-3");
  m.node(255, "0-1");
  auto const machine = m.load();
  EXPECT_EQ(machine.nodes(), 2u);
  for (auto const& where : machine.spread(4)) EXPECT_EQ(where.node, where.cpu < 2 ? 0u : 1u);
  EXPECT_EQ(distance(machine, 0, 1), 1);
  EXPECT_EQ(distance(machine, 0, 3), 2);
}

TEST(linux_topology, older_kernels_have_other_names) {
  fake_machine m;
  m.online("0-7");
  for (auto const* cpus : {"0-1", "2-3", "4-5", "6-7"}) m.each(cpus, "topology/thread_siblings_list", cpus);
  for (auto const* cpus : {"0-3", "4-7"}) m.each(cpus, "topology/core_siblings_list", cpus);
  auto const machine = m.load();
  EXPECT_EQ(machine.nodes(), 1u);
  EXPECT_EQ(spread(machine), (std::vector<int>{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(distance(machine, 0, 1), 1);
  EXPECT_EQ(distance(machine, 0, 2), 2);
  EXPECT_EQ(distance(machine, 0, 7), 3);
}

TEST(linux_topology, what_is_missing_tells_nothing) {
  fake_machine m;
  write_two_nodes(m);
  for (int cpu = 0; cpu < 16; ++cpu) fs::remove_all(m.sys() + "/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache");
  EXPECT_EQ(distance(m.load(), 0, 2), 3);
  fs::remove_all(m.sys() + "/devices/system/node");
  EXPECT_EQ(m.load().nodes(), 1u);
  EXPECT_EQ(distance(m.load(), 0, 4), 3);
  for (int cpu = 0; cpu < 16; ++cpu) m.write("cpu/cpu" + std::to_string(cpu) + "/topology/package_cpus_list", "");
  EXPECT_EQ(distance(m.load(), 0, 8), 1);
  EXPECT_EQ(distance(m.load(), 0, 4), 2);
}

TEST(linux_topology, lists_may_be_longer_than_a_page) {
  fake_machine m;
  std::string even, odd;
  for (int cpu = 0; cpu < 4096; ++cpu) {
    std::string& list = cpu % 2 == 0 ? even : odd;
    if (!list.empty()) list.push_back(',');
    list.append(std::to_string(cpu));
  }
  ASSERT_GT(even.size(), 4096u);
  m.online("0-4095");
  m.nodes_online("0-1");
  m.node(0, even);
  m.node(1, odd);
  auto const machine = m.load();
  EXPECT_EQ(machine.pus(), 4096u);
  EXPECT_EQ(machine.nodes(), 2u);
  EXPECT_EQ(distance(machine, 0, 4094), 1);
  EXPECT_EQ(distance(machine, 0, 4095), 2);
}

}  // namespace
