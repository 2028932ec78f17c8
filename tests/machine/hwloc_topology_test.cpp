// hwloc and nopal agree on this machine and on described ones.

#include <gtest/gtest.h>
#include <hwloc.h>
#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fake_machine.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/machine/topology.hpp"

namespace {

using nopal::core::place;
using nopal::core::topology;
using test::fake_machine;
using test::write_hybrid;
using test::write_large;
using test::write_two_nodes;

class variable {
 public:
  variable(char const* name, std::string const& value) : name_{name} { setenv(name, value.c_str(), 1); }
  ~variable() { unsetenv(name_); }
  variable(variable const&) = delete;
  variable& operator=(variable const&) = delete;

 private:
  char const* name_;
};

/// hwloc's tree of the CPUs `allowed`, with levels of the same CPUs merged: what nopal should find.
class hwloc_says {
 public:
  explicit hwloc_says(std::vector<int> const& allowed) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) throw std::runtime_error{"hwloc_topology_init"};
    machine_.reset(raw);
    hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
    if (hwloc_topology_load(raw) != 0) throw std::runtime_error{"hwloc_topology_load"};
    hwloc_bitmap_t const cpus = hwloc_bitmap_alloc();
    for (int const cpu : allowed) hwloc_bitmap_set(cpus, static_cast<unsigned>(cpu));
    if (!allowed.empty()) hwloc_topology_restrict(raw, cpus, HWLOC_RESTRICT_FLAG_REMOVE_CPULESS);
    hwloc_bitmap_free(cpus);
    visit(hwloc_get_root_obj(raw), nullptr, nullptr, {});
  }

  void expect_of(topology const& ours) const {
    auto const places = ours.spread(ours.pus());
    std::map<int, place> by_cpu;
    for (auto const& where : places) by_cpu[where.cpu] = where;
    ASSERT_EQ(by_cpu.size(), pus_.size());
    std::map<unsigned, unsigned> node;  // theirs to ours
    for (auto const& a : pus_) {
      ASSERT_TRUE(by_cpu.contains(a.cpu)) << a.cpu;
      EXPECT_EQ(node.try_emplace(a.node, by_cpu[a.cpu].node).first->second, by_cpu[a.cpu].node) << a.cpu;
      for (auto const& b : pus_) EXPECT_EQ(ours.distance(by_cpu[a.cpu], by_cpu[b.cpu]), distance(a, b)) << a.cpu << ' ' << b.cpu;
    }
    EXPECT_EQ(node.size(), ours.nodes());
    std::vector<pu> order = pus_;
    std::sort(order.begin(), order.end(), [](pu const& a, pu const& b) { return std::pair{a.rank, a.index} < std::pair{b.rank, b.index}; });
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(places[i].cpu, order[i].cpu) << i;
  }

 private:
  struct pu {
    int cpu;
    std::size_t index;  // in the order of the tree
    unsigned node;
    int rank;                       // the number of CPUs of the same core before this one
    std::vector<hwloc_obj_t> path;  // from the root, each smaller than the last
  };

  static int distance(pu const& a, pu const& b) {
    std::size_t same = 0;
    while (same < std::min(a.path.size(), b.path.size()) && a.path[same] == b.path[same]) ++same;
    return static_cast<int>(std::max(a.path.size(), b.path.size()) - same);
  }

  void visit(hwloc_obj_t object, hwloc_obj_t core, hwloc_obj_t memory, std::vector<hwloc_obj_t> path) {
    if (object->type == HWLOC_OBJ_CORE) core = object;
    if (object->memory_arity > 0) memory = object->memory_first_child;
    if (path.empty() || hwloc_bitmap_isequal(path.back()->cpuset, object->cpuset) == 0) path.push_back(object);
    if (object->type == HWLOC_OBJ_PU) {
      int const rank = core == nullptr ? 0 : seen_[core]++;
      pus_.push_back({static_cast<int>(object->os_index), pus_.size(), memory == nullptr ? 0 : memory->os_index, rank, path});
    }
    for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) visit(child, core, memory, path);
  }

  struct destroys {
    void operator()(hwloc_topology_t machine) const { hwloc_topology_destroy(machine); }
  };
  std::unique_ptr<hwloc_topology, destroys> machine_;
  std::vector<pu> pus_;
  std::map<hwloc_obj_t, int> seen_;
};

TEST(linux_topology, of_this_machine_is_what_hwloc_says) {
  auto const cpus = nopal::core::read_cpu_limits().cpus;
  hwloc_says{cpus}.expect_of(topology::of_linux(cpus));
}

TEST(linux_topology, of_written_machines_is_what_hwloc_says) {
  struct machine {
    char const* name;
    void (*write)(fake_machine const&);
    std::vector<int> allowed;
  };
  for (auto const& example : {machine{"two nodes", write_two_nodes, {}},
                              machine{"two nodes, some CPUs", write_two_nodes, {1, 2, 9, 10, 14}}, machine{"hybrid", write_hybrid, {}},
                              machine{"hybrid, some CPUs", write_hybrid, {1, 2, 3, 5, 6, 8}}, machine{"large", write_large, {}}}) {
    SCOPED_TRACE(example.name);
    fake_machine m;
    example.write(m);
    variable const root{"HWLOC_FSROOT", m.root()};
    variable const files{"HWLOC_COMPONENTS", "linux,stop"};
    hwloc_says{example.allowed}.expect_of(m.load(example.allowed));
  }
}

}  // namespace
