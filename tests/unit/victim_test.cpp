// The distribution of Eq. (6), computed from the alias table itself and compared with the formula.

#include "nopal/core/machine/victim.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "nopal/core/base/random.hpp"

namespace {

using nopal::core::place;
using nopal::core::rng;
using nopal::core::topology;
using nopal::core::victim_table;

topology made_up(char const* description) {
  setenv("HWLOC_SYNTHETIC", description, 1);
  auto machine = topology::load({});
  unsetenv("HWLOC_SYNTHETIC");
  return machine;
}

/// Eq. (6), normalised, as in the paper: a sum over all pairs, with no code shared with the table.
std::vector<double> formula(topology const& machine, std::vector<place> const& workers, unsigned self) {
  auto const r = [&](std::size_t j) { return std::max(1, machine.distance(workers[self], workers[j])); };
  std::vector<double> weight(workers.size());
  double total = 0;
  for (std::size_t j = 0; j < workers.size(); ++j) {
    if (j == self) continue;
    int n = 0;
    for (std::size_t k = 0; k < workers.size(); ++k) n += k != self && r(k) == r(j);
    weight[j] = 1.0 / (n * r(j) * r(j));
    total += weight[j];
  }
  for (auto& w : weight) w /= total;
  return weight;
}

/// The shares of all victims if `random` takes 2^20 evenly spaced values: deterministic, and off by 2^-20 a column at most.
std::vector<double> picked(victim_table const& table, std::size_t workers) {
  constexpr int bits = 20;
  std::vector<double> share(workers);
  for (std::uint64_t k = 0; k < 1ull << bits; ++k) {
    auto const victim = table.pick((k << (64 - bits)) + (1ull << (63 - bits)));
    if (victim < workers) share[victim] += 1.0 / (1 << bits);
  }
  return share;
}

struct example {
  char const* machine;
  unsigned workers;
};

constexpr example examples[] = {
    {"pu:2", 2},
    {"core:4 pu:1", 4},  // one node
    {"numa:2 core:4 pu:1", 8},
    {"numa:2 core:4 pu:2", 16},
    {"numa:2 core:4 pu:2", 5},   // four workers on one node, one on the other
    {"numa:2 core:4 pu:2", 11},  // some cores have two workers
    {"numa:2 core:4 pu:2", 23},  // some PUs have two workers
    {"pu:1", 5},                 // all on one PU
    {"pack:2 numa:2 l3:2 core:4 pu:2", 64},
    {"pack:3 l3:5 core:7 pu:1", 101},
};

TEST(victim_table, is_distributed_as_the_formula_says) {
  for (auto const& [description, count] : examples) {
    SCOPED_TRACE(description + std::string{", workers: "} + std::to_string(count));
    auto const machine = made_up(description);
    auto const workers = machine.spread(count);
    for (unsigned self = 0; self < count; ++self) {
      victim_table const table{machine, workers, self};
      ASSERT_FALSE(table.empty());
      auto const expected = formula(machine, workers, self);
      double sum = 0;
      for (unsigned j = 0; j < count; ++j) {
        EXPECT_NEAR(table.probability(j), expected[j], 1e-12) << self << ' ' << j;
        sum += table.probability(j);
      }
      EXPECT_NEAR(sum, 1, 1e-12);
      EXPECT_EQ(table.probability(self), 0);
    }
  }
}

TEST(victim_table, picks_as_the_table_says_and_never_the_thief) {
  for (auto const& [description, count] : examples) {
    SCOPED_TRACE(description + std::string{", workers: "} + std::to_string(count));
    auto const machine = made_up(description);
    auto const workers = machine.spread(count);
    for (unsigned self : {0u, count - 1}) {
      victim_table const table{machine, workers, self};
      auto const share = picked(table, count);
      EXPECT_EQ(share[self], 0);
      for (unsigned j = 0; j < count; ++j) {
        EXPECT_NEAR(share[j], table.probability(j), 1e-6 * count) << self << ' ' << j;
      }
      for (std::uint64_t random : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, ~std::uint64_t{0} - 1}) {
        EXPECT_NE(table.pick(random), self);
        EXPECT_LT(table.pick(random), count);
      }
    }
  }
}

TEST(victim_table, two_nodes_of_four_cores_worked_by_hand) {
  auto const machine = made_up("numa:2 core:4 pu:1");
  auto const workers = machine.spread(8);
  victim_table const table{machine, workers, 0};
  // Three at r = 2 share 1/4, four at r = 3 share 1/9; together 13/36.
  for (unsigned j = 1; j < 4; ++j) EXPECT_NEAR(table.probability(j), 9.0 / 13 / 3, 1e-15);
  for (unsigned j = 4; j < 8; ++j) EXPECT_NEAR(table.probability(j), 4.0 / 13 / 4, 1e-15);
}

TEST(victim_table, workers_on_one_cpu_count_as_neighbours) {
  auto const machine = made_up("numa:2 core:1 pu:1");
  auto const workers = machine.spread(4);  // 0 and 2 on one CPU, 1 and 3 on the other
  victim_table const table{machine, workers, 0};
  double const r = machine.distance(0, 1);
  EXPECT_NEAR(table.probability(2), 1 / (1 + 1 / (r * r)), 1e-12);
  EXPECT_NEAR(table.probability(1), table.probability(3), 1e-15);
}

TEST(victim_table, of_one_node_is_uniform) {
  auto const machine = topology::flat({0, 1, 2, 3, 4, 5, 6});
  auto const workers = machine.spread(7);
  victim_table const table{machine, workers, 3};
  for (unsigned j = 0; j < 7; ++j) EXPECT_NEAR(table.probability(j), j == 3 ? 0 : 1.0 / 6, 1e-15);
}

TEST(victim_table, of_two_workers_always_gives_the_other) {
  auto const machine = topology::flat({0, 1});
  auto const workers = machine.spread(2);
  rng random{7};
  for (unsigned self : {0u, 1u}) {
    victim_table const table{machine, workers, self};
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(table.pick(random()), 1 - self);
  }
}

TEST(victim_table, is_empty_where_there_is_nobody_to_rob) {
  auto const machine = topology::flat({0});
  EXPECT_TRUE(victim_table{}.empty());
  EXPECT_TRUE((victim_table{machine, machine.spread(1), 0}.empty()));
  EXPECT_EQ(victim_table{}.probability(0), 0);
}

TEST(victim_table, sampled_with_the_workers_generator_passes_chi_square) {
  auto const machine = made_up("numa:2 core:4 pu:2");
  auto const workers = machine.spread(16);
  constexpr int samples = 200'000;
  for (unsigned self = 0; self < 16; ++self) {
    victim_table const table{machine, workers, self};
    rng random{42, self};
    std::vector<int> count(16);
    for (int i = 0; i < samples; ++i) ++count[table.pick(random())];
    EXPECT_EQ(count[self], 0);
    double chi_square = 0;
    for (unsigned j = 0; j < 16; ++j) {
      if (j == self) continue;
      double const expected = table.probability(j) * samples;
      chi_square += (count[j] - expected) * (count[j] - expected) / expected;
    }
    EXPECT_LT(chi_square, 42.6) << self;  // 14 degrees of freedom, one in ten thousand; the seed is fixed
  }
}

TEST(random, repeats_itself_for_the_same_seed_and_stream_only) {
  rng a{1, 2}, b{1, 2}, other_stream{1, 3}, other_seed{2, 2};
  for (int i = 0; i < 100; ++i) {
    auto const x = a();
    EXPECT_EQ(x, b());
    EXPECT_NE(x, other_stream());
    EXPECT_NE(x, other_seed());
  }
}

TEST(random, streams_of_one_seed_are_not_shifts_of_one_another) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t stream = 0; stream < 64; ++stream) {
    rng random{0, stream};
    for (int i = 0; i < 256; ++i) seen.insert(random());
  }
  EXPECT_EQ(seen.size(), 64u * 256u);
}

TEST(random, sets_each_bit_half_the_time) {
  rng random{0};
  std::vector<int> set(64);
  for (int i = 0; i < 10'000; ++i) {
    auto const x = random();
    for (unsigned bit = 0; bit < 64; ++bit) set[bit] += static_cast<int>(x >> bit & 1);
  }
  for (int count : set) EXPECT_NEAR(count, 5000, 250);  // five standard deviations
}

TEST(victim_table, of_uniform_victims_gives_each_other_worker_the_same_chance) {
  victim_table const table{nopal::victims::uniform, 5, 2};
  EXPECT_FALSE(table.scans());
  for (unsigned j = 0; j < 5; ++j) EXPECT_NEAR(table.probability(j), j == 2 ? 0 : 0.25, 1e-12) << j;
  EXPECT_TRUE((victim_table{nopal::victims::uniform, 1, 0}.empty()));
}

TEST(victim_table, of_a_scan_tries_the_workers_in_order_from_the_first_on) {
  victim_table const table{nopal::victims::scan, 4, 1};
  ASSERT_TRUE(table.scans());
  std::vector<unsigned> tried;
  for (unsigned k = 0; k < 3; ++k) tried.push_back(table.in_order(k));
  EXPECT_EQ(tried, (std::vector<unsigned>{0, 2, 3}));
}

}  // namespace
