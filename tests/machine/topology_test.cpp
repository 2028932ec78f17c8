// Distances, nodes and placement on made-up machines, and a machine that hwloc cannot read.

#include "nopal/core/machine/topology.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nopal/core/machine/cpus.hpp"

namespace {

using nopal::core::place;
using nopal::core::topology;

/// Sets an environment variable, or unsets it (nullptr), until the end of the block.
class variable {
 public:
  variable(std::string name, char const* value) : name_{std::move(name)} {
    if (char const* old = getenv(name_.c_str())) {
      had_ = true;
      old_ = old;
    }
    set(value);
  }
  ~variable() { set(had_ ? old_.c_str() : nullptr); }
  variable(variable const&) = delete;
  variable& operator=(variable const&) = delete;

 private:
  void set(char const* value) const {
    if (value != nullptr) {
      setenv(name_.c_str(), value, 1);
    } else {
      unsetenv(name_.c_str());
    }
  }

  std::string name_, old_;
  bool had_ = false;
};

topology made_up(char const* description) {
  variable const synthetic{"HWLOC_SYNTHETIC", description};
  return topology::load({});
}

std::vector<int> cpus_of(std::vector<place> const& places) {
  std::vector<int> cpus;
  for (auto const& where : places) cpus.push_back(where.cpu);
  return cpus;
}

TEST(topology, two_nodes_of_four_cores) {
  auto const machine = made_up("numa:2 core:4 pu:1");
  EXPECT_FALSE(machine.is_this_machine());
  EXPECT_EQ(machine.nodes(), 2u);
  EXPECT_EQ(machine.pus(), 8u);
  for (unsigned a = 0; a < 8; ++a) {
    for (unsigned b = 0; b < 8; ++b) {
      // pu - core - node - machine
      EXPECT_EQ(machine.distance(a, b), a == b ? 0 : a / 4 == b / 4 ? 2 : 3) << a << ' ' << b;
    }
  }
}

TEST(topology, hardware_threads_are_nearest) {
  auto const machine = made_up("numa:2 core:4 pu:2");
  EXPECT_EQ(machine.pus(), 16u);
  for (unsigned a = 0; a < 16; ++a) {
    for (unsigned b = 0; b < 16; ++b) {
      int const expected = a == b ? 0 : a / 2 == b / 2 ? 1 : a / 8 == b / 8 ? 2 : 3;
      EXPECT_EQ(machine.distance(a, b), expected) << a << ' ' << b;
    }
  }
}

TEST(topology, every_level_of_the_tree_counts) {
  auto const machine = made_up("pack:2 numa:2 l3:2 core:2 pu:2");
  EXPECT_EQ(machine.nodes(), 4u);
  EXPECT_EQ(machine.pus(), 32u);
  EXPECT_EQ(machine.distance(0, 1), 1);   // a core
  EXPECT_EQ(machine.distance(0, 2), 2);   // an L3
  EXPECT_EQ(machine.distance(0, 4), 3);   // a node
  EXPECT_EQ(machine.distance(0, 8), 4);   // a package
  EXPECT_EQ(machine.distance(0, 16), 5);  // the machine
}

TEST(topology, one_node) {
  auto const machine = made_up("core:3 pu:1");
  EXPECT_EQ(machine.nodes(), 1u);
  EXPECT_EQ(machine.pus(), 3u);
  EXPECT_EQ(machine.distance(0, 2), 2);
}

TEST(topology, one_cpu) {
  auto const machine = made_up("pu:1");
  EXPECT_EQ(machine.nodes(), 1u);
  EXPECT_EQ(machine.pus(), 1u);
  EXPECT_EQ(machine.distance(0, 0), 0);
  EXPECT_EQ(machine.spread(3), (std::vector<place>(3, machine.spread(1)[0])));
}

TEST(topology, nonsense_in_the_variable_says_what_is_wrong_and_what_to_do) {
  for (auto const* nonsense : {"nonsense", "numa:2 core:4", "core:0 pu:1", "numa:2 core:4 pu:1 junk", "-1", "   "}) {
    try {
      made_up(nonsense);
      ADD_FAILURE() << nonsense << " was taken";
    } catch (std::invalid_argument const& error) {
      std::string const what = error.what();
      EXPECT_NE(what.find("HWLOC_SYNTHETIC"), what.npos) << what;
      EXPECT_NE(what.find('"' + std::string{nonsense} + '"'), what.npos) << what;
      EXPECT_NE(what.find("unset"), what.npos) << what;
      EXPECT_NE(what.find("numa:2 core:4 pu:1"), what.npos) << what;
    }
  }
}

TEST(topology, a_correct_variable_after_nonsense_is_taken) {
  EXPECT_THROW(made_up("nonsense"), std::invalid_argument);
  EXPECT_EQ(made_up("numa:2 core:4 pu:1").pus(), 8u);
  EXPECT_THROW(made_up("nonsense"), std::invalid_argument);
}

TEST(topology, an_empty_variable_is_as_good_as_none) {
  auto const cpus = nopal::core::read_cpu_limits().cpus;
  variable const synthetic{"HWLOC_SYNTHETIC", ""};
  auto const machine = topology::load(cpus);
  EXPECT_TRUE(machine.is_this_machine());
  EXPECT_EQ(machine.pus(), cpus.size());
}

TEST(topology, a_made_up_machine_is_not_restricted) {
  variable const synthetic{"HWLOC_SYNTHETIC", "numa:2 core:4 pu:1"};
  EXPECT_EQ(topology::load({0}).pus(), 8u);
}

TEST(spread, takes_one_hardware_thread_of_each_core_first) {
  auto const machine = made_up("numa:2 core:4 pu:2");
  auto const places = machine.spread(16);
  EXPECT_EQ(cpus_of(places), (std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15}));
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(places[i].node, i / 4 % 2) << i;
}

TEST(spread, keeps_few_workers_on_one_node) {
  auto const machine = made_up("numa:2 core:4 pu:2");
  for (auto const& where : machine.spread(4)) EXPECT_EQ(where.node, 0u);
}

TEST(spread, names_cpus_as_the_system_does) {
  // Many machines number the second hardware threads after all the first.
  auto const machine = made_up("numa:1 core:4 pu:2(indexes=0,4,1,5,2,6,3,7)");
  auto const places = machine.spread(8);
  EXPECT_EQ(cpus_of(places), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(machine.distance(places[0], places[4]), 1);
}

TEST(spread, without_cores_takes_every_thread_in_turn) {
  EXPECT_EQ(cpus_of(made_up("numa:2 pu:3").spread(6)), (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST(spread, goes_round_again_when_there_are_more_workers_than_cpus) {
  auto const machine = made_up("numa:2 core:2 pu:2");
  auto const once = machine.spread(8);
  auto const places = machine.spread(21);
  ASSERT_EQ(places.size(), 21u);
  for (unsigned i = 0; i < 21; ++i) EXPECT_EQ(places[i], once[i % 8]) << i;
}

TEST(spread, of_nobody_is_empty) { EXPECT_TRUE(made_up("pu:2").spread(0).empty()); }

TEST(spread, uses_every_cpu_once_before_any_twice_and_starts_the_same_whatever_the_count) {
  for (auto const* description : {"pu:1", "core:7 pu:1", "numa:3 core:5 pu:2", "pack:2 numa:2 l3:2 core:3 pu:4"}) {
    auto const machine = made_up(description);
    auto const all = machine.spread(machine.pus());
    std::set<int> distinct;
    std::set<unsigned> nodes;
    for (auto const& where : all) {
      distinct.insert(where.cpu);
      nodes.insert(where.node);
      EXPECT_LT(where.pu, machine.pus());
    }
    EXPECT_EQ(distinct.size(), machine.pus()) << description;
    EXPECT_EQ(nodes.size(), machine.nodes()) << description;
    EXPECT_EQ(*nodes.rbegin(), machine.nodes() - 1) << description;
    for (unsigned workers = 1; workers < machine.pus(); ++workers) {
      auto const some = machine.spread(workers);
      EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << description << ' ' << workers;
    }
  }
}

TEST(topology, distance_is_symmetric_and_an_ultrametric) {
  auto const machine = made_up("pack:2 numa:2 l3:2 core:2 pu:2");
  for (unsigned a = 0; a < machine.pus(); ++a) {
    for (unsigned b = 0; b < machine.pus(); ++b) {
      EXPECT_EQ(machine.distance(a, b), machine.distance(b, a));
      EXPECT_EQ(machine.distance(a, b) == 0, a == b);
      for (unsigned c = 0; c < machine.pus(); c += 5) {
        EXPECT_LE(machine.distance(a, b), std::max(machine.distance(a, c), machine.distance(c, b)));
      }
    }
  }
}

/// An uneven machine, which a synthetic description cannot express: package 0 has two cores of two threads under an L3, package 1 three
/// threads without cores or caches, and node 7 is memory without CPUs.
class uneven : public testing::Test {
 protected:
  uneven() : file_{testing::TempDir() + "nopal_uneven_XXXXXX"} {
    int const opened = mkstemp(file_.data());
    if (opened < 0) throw std::runtime_error{"no temporary file"};
    close(opened);
    auto const set = [](char const* cpus, char const* nodes) {
      return std::string{" cpuset=\""} + cpus + "\" complete_cpuset=\"" + cpus + "\" nodeset=\"" + nodes + "\" complete_nodeset=\"" +
             nodes + "\"";
    };
    int id = 0;
    std::ofstream out{file_};
    auto const object = [&](char const* type, int index, char const* cpus, char const* nodes, char const* rest) {
      out << "<object type=\"" << type << "\" os_index=\"" << index << '"' << set(cpus, nodes) << " gp_index=\"" << ++id << '"' << rest
          << ">\n";
    };
    out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n";
    out << "<topology version=\"2.0\">\n";
    object("Machine", 0, "0x7f", "0x83", " allowed_cpuset=\"0x7f\" allowed_nodeset=\"0x83\"");
    object("NUMANode", 7, "0x7f", "0x80", " local_memory=\"1073741824\"/");
    object("Package", 0, "0x0f", "0x81", "");
    object("NUMANode", 0, "0x0f", "0x01", " local_memory=\"1073741824\"/");
    object("L3Cache", 0, "0x0f", "0x81",
           " cache_size=\"1048576\" depth=\"3\" cache_linesize=\"64\" cache_associativity=\"8\" cache_type=\"0\"");
    object("Core", 0, "0x03", "0x81", "");
    object("PU", 0, "0x01", "0x81", "/");
    object("PU", 1, "0x02", "0x81", "/");
    out << "</object>\n";
    object("Core", 1, "0x0c", "0x81", "");
    object("PU", 2, "0x04", "0x81", "/");
    object("PU", 3, "0x08", "0x81", "/");
    out << "</object>\n</object>\n</object>\n";
    object("Package", 1, "0x70", "0x82", "");
    object("NUMANode", 1, "0x70", "0x02", " local_memory=\"1073741824\"/");
    object("PU", 4, "0x10", "0x82", "/");
    object("PU", 5, "0x20", "0x82", "/");
    object("PU", 6, "0x40", "0x82", "/");
    out << "</object>\n</object>\n</topology>\n";
  }
  ~uneven() override { std::remove(file_.c_str()); }

  topology load(std::vector<int> const& allowed, bool as_this_machine) const {
    variable const synthetic{"HWLOC_SYNTHETIC", nullptr};
    variable const xml{"HWLOC_XMLFILE", file_.c_str()};
    variable const ours{"HWLOC_THISSYSTEM", as_this_machine ? "1" : "0"};
    return topology::load(allowed);
  }

  std::string file_;
};

TEST_F(uneven, distance_is_the_larger_of_both_heights) {
  auto const machine = load({}, false);
  ASSERT_EQ(machine.pus(), 7u);
  EXPECT_FALSE(machine.is_this_machine());
  EXPECT_EQ(machine.distance(0, 1), 1);
  EXPECT_EQ(machine.distance(0, 2), 2);
  EXPECT_EQ(machine.distance(0, 4), 4);  // four edges up on one side, two on the other
  EXPECT_EQ(machine.distance(4, 0), 4);
  EXPECT_EQ(machine.distance(4, 5), 1);
}

TEST_F(uneven, memory_without_cpus_is_no_node) {
  auto const machine = load({}, false);
  EXPECT_EQ(machine.nodes(), 2u);
  auto const places = machine.spread(7);
  EXPECT_EQ(cpus_of(places), (std::vector<int>{0, 2, 4, 5, 6, 1, 3}));
  for (auto const& where : places) EXPECT_EQ(where.node, where.cpu < 4 ? 0u : 1u);
}

TEST_F(uneven, foreign_machine_is_not_restricted) { EXPECT_EQ(load({0}, false).pus(), 7u); }

TEST_F(uneven, this_machine_is_restricted_to_what_is_allowed) {
  auto const machine = load({1, 2, 3, 5}, true);
  EXPECT_TRUE(machine.is_this_machine());
  EXPECT_EQ(machine.nodes(), 2u);
  EXPECT_EQ(cpus_of(machine.spread(4)), (std::vector<int>{1, 2, 5, 3}));
}

TEST_F(uneven, nodes_are_dense_whatever_is_left) {
  auto const machine = load({4, 6}, true);
  EXPECT_EQ(machine.nodes(), 1u);
  EXPECT_EQ(cpus_of(machine.spread(2)), (std::vector<int>{4, 6}));
  for (auto const& where : machine.spread(2)) EXPECT_EQ(where.node, 0u);
}

TEST_F(uneven, cpus_that_hwloc_does_not_know_make_it_flat) {
  for (auto const& allowed : {std::vector<int>{2, 5, 900}, std::vector<int>{900, 901}}) {
    auto const machine = load(allowed, true);
    EXPECT_TRUE(machine.is_this_machine());
    EXPECT_EQ(machine.nodes(), 1u);
    EXPECT_EQ(cpus_of(machine.spread(machine.pus())), allowed);
    EXPECT_EQ(machine.distance(0, 1), 1);
  }
}

TEST(topology, flat_has_one_node_and_all_at_the_same_distance) {
  auto const machine = topology::flat({3, 5, 9});
  EXPECT_TRUE(machine.is_this_machine());
  EXPECT_EQ(machine.nodes(), 1u);
  EXPECT_EQ(cpus_of(machine.spread(4)), (std::vector<int>{3, 5, 9, 3}));
  for (unsigned a = 0; a < 3; ++a) {
    for (unsigned b = 0; b < 3; ++b) EXPECT_EQ(machine.distance(a, b), a == b ? 0 : 1);
  }
  EXPECT_GE(topology::flat({}).pus(), 1u);
}

TEST(topology, of_this_machine_has_exactly_the_allowed_cpus) {
  variable const synthetic{"HWLOC_SYNTHETIC", nullptr};
  auto const cpus = nopal::core::read_cpu_limits().cpus;
  auto const machine = topology::load(cpus);
  EXPECT_TRUE(machine.is_this_machine());
  auto placed = cpus_of(machine.spread(machine.pus()));
  std::sort(placed.begin(), placed.end());
  EXPECT_EQ(placed, cpus);

  auto const one = topology::load({cpus.back()});
  EXPECT_EQ(one.pus(), 1u);
  EXPECT_EQ(one.nodes(), 1u);
  EXPECT_EQ(one.spread(1)[0].cpu, cpus.back());
}

TEST(topology, loading_does_not_change_the_affinity_of_the_caller) {
  variable const synthetic{"HWLOC_SYNTHETIC", nullptr};
  auto const before = nopal::core::read_affinity();
  (void)topology::load(before);
  EXPECT_EQ(nopal::core::read_affinity(), before);
}

TEST(topology, may_be_loaded_by_several_threads_at_once) {
  variable const synthetic{"HWLOC_SYNTHETIC", "numa:2 core:4 pu:2"};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 20; ++j) EXPECT_EQ(topology::load({j}).pus(), 16u);
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(topology, prints_what_loading_costs) {
  variable const synthetic{"HWLOC_SYNTHETIC", nullptr};
  auto const cpus = nopal::core::read_cpu_limits().cpus;
  auto const time = [](auto&& work) {
    auto const start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  };
  (void)topology::load({cpus.front()});
  double fresh = 0;
  for (int i = 0; i < 5; ++i) {
    // Another value each time, so that nothing is remembered; hwloc itself does not know the variable.
    variable const other{"HWLOC_NOPAL_TEST", std::to_string(i).c_str()};
    fresh += time([&] { (void)topology::load(cpus); }) / 5;
  }
  (void)topology::load(cpus);
  double const again = time([&] { (void)topology::load(cpus); });
  double const limits = time([&] { (void)nopal::core::read_cpu_limits(); });
  std::cout << "load " << fresh << " ms, again " << again << " ms, read_cpu_limits " << limits << " ms\n";
  EXPECT_LT(again, 1000);
}

}  // namespace
