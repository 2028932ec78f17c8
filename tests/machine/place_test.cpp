// Places: the CPUs that a part of the machine has, and pools that work there.

#include "nopal/place.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fake_machine.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/machine/topology.hpp"
#include "nopal/pool.hpp"

namespace {

using nopal::place;
using nopal::core::topology;
using test::fake_machine;
using cpus = std::vector<int>;

/// What the constructor or the function says that refuses the place.
template <class F>
std::string said(F f) {
  try {
    f();
  } catch (std::invalid_argument const& e) {
    return e.what();
  }
  return "nothing";
}

TEST(place, of_a_machine_as_linux_describes_it) {
  fake_machine m;
  test::write_two_nodes(m);
  topology machine = m.load();
  EXPECT_EQ(machine.cpus_of(place::numa(0)), (cpus{0, 1, 2, 3, 8, 9, 10, 11}));
  EXPECT_EQ(machine.cpus_of(place::numa(1)), (cpus{4, 5, 6, 7, 12, 13, 14, 15}));
  EXPECT_EQ(machine.cpus_of(place::cpus({9, 0, 9})), (cpus{0, 9}));
  EXPECT_EQ(machine.cpus_of(place{}).size(), 16U);
  EXPECT_EQ(machine.cpus_of(place::performance_cores()).size(), 16U);
  // Each node has two packages, of two cores of two threads.
  EXPECT_EQ(machine.cpus_of(place::package(0)).size(), 4U);
  EXPECT_EQ(machine.cpus_of(place::package(3)).size(), 4U);
  machine.keep_only(machine.cpus_of(place::numa(1)));
  EXPECT_EQ(machine.pus(), 8U);
  EXPECT_EQ(test::spread(machine), (cpus{4, 5, 6, 7, 12, 13, 14, 15}));
  for (auto const& p : machine.spread(9)) EXPECT_EQ(p.node, 1U);
}

TEST(place, says_what_there_is) {
  fake_machine m;
  test::write_two_nodes(m);
  topology const machine = m.load();
  EXPECT_NE(said([&] { machine.cpus_of(place::numa(2)); }).find("numa(2), but there are 2 NUMA nodes"), std::string::npos);
  EXPECT_NE(said([&] { machine.cpus_of(place::package(4)); }).find("package(4), but there are 4 packages"), std::string::npos);
  EXPECT_NE(said([&] { machine.cpus_of(place::cpus({3, 16})); }).find("names CPU 16, which this process may not use; it may use 0-15"),
            std::string::npos);
  EXPECT_NE(said([&] { machine.cpus_of(place::cpus({-1})); }).find("names CPU -1"), std::string::npos);
  EXPECT_NE(said([&] { machine.cpus_of(place::cpus({})); }).find("is no CPU; it may use 0-15"), std::string::npos);
  EXPECT_NE(said([&] { machine.cpus_of(place::efficiency_cores()); }).find("all cores that this process may use are alike"),
            std::string::npos);
}

TEST(place, knows_fast_and_slow_cores) {
  fake_machine intel;
  test::write_hybrid(intel);
  intel.write("../cpu_core/cpus", "0-3");
  intel.write("../cpu_atom/cpus", "4-11");
  EXPECT_EQ(intel.load().cpus_of(place::performance_cores()), (cpus{0, 1, 2, 3}));
  EXPECT_EQ(intel.load().cpus_of(place::efficiency_cores()), (cpus{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(intel.load({2, 3}).cpus_of(place::performance_cores()), (cpus{2, 3}));

  fake_machine arm;
  test::write_hybrid(arm);
  arm.each("0-3", "cpu_capacity", "1024");
  arm.each("4-7", "cpu_capacity", "512");
  arm.each("8-11", "cpu_capacity", "400");
  EXPECT_EQ(arm.load().cpus_of(place::performance_cores()), (cpus{0, 1, 2, 3}));
  EXPECT_EQ(arm.load().cpus_of(place::efficiency_cores()), (cpus{4, 5, 6, 7, 8, 9, 10, 11}));
  arm.write("cpu/cpu5/cpu_capacity", "much");
  EXPECT_EQ(arm.load().cpus_of(place::performance_cores()).size(), 12U);
}

TEST(place, of_made_up_machines) {
  topology const small = topology::made_up("2x4");
  EXPECT_EQ(small.cpus_of(place::numa(1)), (cpus{4, 5, 6, 7}));
  EXPECT_EQ(small.cpus_of(place::package(1)), (cpus{4, 5, 6, 7}));
  EXPECT_EQ(topology::made_up("6").cpus_of(place::package(0)).size(), 6U);
  EXPECT_EQ(topology::flat({1, 3}).cpus_of(place::package(0)), (cpus{1, 3}));
#if NOPAL_HWLOC
  EXPECT_EQ(topology::made_up("pack:2 numa:2 core:2 pu:1").cpus_of(place::package(1)), (cpus{4, 5, 6, 7}));
  EXPECT_EQ(topology::made_up("pack:2 numa:2 core:2 pu:1").cpus_of(place::numa(1)), (cpus{2, 3}));
#endif
}

cpus mask_here() { return nopal::core::read_affinity(); }

TEST(place, a_pool_works_there_only) {
  cpus const before = mask_here();
  for (int const cpu : before) {
    nopal::pool pool{{.place = place::cpus({cpu})}};
    EXPECT_EQ(pool.workers(), 1U);
    std::atomic<int> elsewhere{0};
    for (int k = 0; k < 50; ++k) {
      pool.submit([&] {
            elsewhere += ::sched_getcpu() != cpu;
            EXPECT_EQ(mask_here(), cpus{cpu});
            std::thread{[&] { elsewhere += ::sched_getcpu() != cpu; }}.join();
          })
          .get();
    }
    EXPECT_EQ(elsewhere, 0);
    int const where = pool.run([] { return ::sched_getcpu(); });
    EXPECT_TRUE(before.size() > 1 || where == cpu);
    EXPECT_EQ(mask_here(), before);
  }
}

TEST(place, two_pools_beside_each_other) {
  cpus const all = mask_here();
  if (all.size() < 2) GTEST_SKIP() << "one CPU";
  nopal::pool a{{.place = place::cpus({all[0]})}};
  nopal::pool b{{.workers = 2, .place = place::cpus({all[1]})}};
  for (int k = 0; k < 20; ++k) {
    auto of_a = a.submit([] { return ::sched_getcpu(); });
    auto of_b = b.submit([&] { return a.submit([] { return ::sched_getcpu(); }).get() == all[0] ? ::sched_getcpu() : -1; });
    EXPECT_EQ(of_a.get(), all[0]);
    EXPECT_EQ(of_b.get(), all[1]);
  }
}

TEST(place, of_all_nodes_is_the_machine) {
  std::size_t cpus_there = 0;
  auto const nodes = nopal::numa_nodes();
  ASSERT_FALSE(nodes.empty());
  for (place const& p : nodes) {
    nopal::pool pool{{.place = p}};
    cpus_there += pool.submit([] { return mask_here().size(); }).get();
  }
  EXPECT_EQ(cpus_there, mask_here().size());
}

TEST(place, that_is_not_there_is_refused) {
  EXPECT_NE(said([] { nopal::pool const pool{{.place = place::numa(1000)}}; }).find("nopal::pool: place = numa(1000)"), std::string::npos);
  EXPECT_NE(said([] { nopal::pool const pool{{.place = place::cpus({1 << 20})}}; }).find("may not use"), std::string::npos);
  EXPECT_NE(said([] { nopal::pool const pool{{.workers = 2, .pin = true, .place = place::cpus({mask_here()[0]})}}; }).find("pin = true"),
            std::string::npos);
}

}  // namespace
