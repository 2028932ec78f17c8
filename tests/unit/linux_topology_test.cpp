// Machines written down as Linux tells of them, in folders like /sys; and what hwloc makes of the same folders.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <hwloc.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "nopal/core/machine/cpu_list.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/machine/topology.hpp"

namespace {

namespace fs = std::filesystem;
using nopal::core::place;
using nopal::core::topology;

/// A folder that stands for /, until the end of the block.
class fake_machine {
 public:
  fake_machine() : root_{testing::TempDir() + "nopal_sys_XXXXXX"} {
    if (mkdtemp(root_.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
  }
  ~fake_machine() { fs::remove_all(root_); }
  fake_machine(fake_machine const&) = delete;
  fake_machine& operator=(fake_machine const&) = delete;

  void write(std::string const& file, std::string const& text) const {
    fs::path const path = fs::path{sys()} / "devices/system" / file;
    std::ofstream out{path};
    if (!out) {
      fs::create_directories(path.parent_path());
      out.open(path);
    }
    out << text << '\n';
  }
  void online(std::string const& list) const {
    for (auto const* file : {"cpu/online", "cpu/possible", "cpu/present"}) write(file, list);
  }
  /// The file `name` of each CPU of `cpus` says `text`.
  void each(std::string const& cpus, std::string const& name, std::string const& text) const {
    for (int const cpu : numbers_in(cpus)) write("cpu/cpu" + std::to_string(cpu) + "/" + name, text);
  }
  /// Each CPU of `cpus` says that it shares with them: in the file `list`, and in the file `mask`, which hwloc reads.
  void share(std::string const& list, std::string const& mask, std::string const& cpus) const {
    each(cpus, list, cpus);
    each(cpus, mask, mask_of(cpus));
  }
  void core(std::string const& cpus) const {
    share("topology/core_cpus_list", "topology/core_cpus", cpus);
    each(cpus, "topology/core_id", std::to_string(numbers_in(cpus).front()));
  }
  void cluster(std::string const& cpus) const {
    share("topology/cluster_cpus_list", "topology/cluster_cpus", cpus);
    each(cpus, "topology/cluster_id", std::to_string(numbers_in(cpus).front()));
  }
  void package(std::string const& cpus) const {
    share("topology/package_cpus_list", "topology/package_cpus", cpus);
    each(cpus, "topology/physical_package_id", std::to_string(numbers_in(cpus).front()));
  }
  void cache(int index, std::string const& cpus) const {
    std::string const files = "cache/index" + std::to_string(index) + "/";
    share(files + "shared_cpu_list", files + "shared_cpu_map", cpus);
    each(cpus, files + "level", std::to_string(index + 1));
    each(cpus, files + "type", index == 0 ? "Data" : "Unified");
    each(cpus, files + "size", "1024K");
  }
  void node(int number, std::string const& cpus) const {
    std::string const files = "node/node" + std::to_string(number) + "/";
    write(files + "cpulist", cpus);
    write(files + "cpumap", mask_of(cpus));
  }
  void nodes_online(std::string const& list) const { write("node/online", list); }

  std::string root() const { return root_; }
  std::string sys() const { return root_ + "/sys"; }
  topology load(std::vector<int> const& allowed = {}) const { return topology::of_linux(allowed, sys()); }

 private:
  static std::vector<int> numbers_in(std::string const& list) {
    std::vector<int> all;
    nopal::core::for_each_range(list, [&](auto first, auto last) {
      for (auto n = first; n <= last; ++n) all.push_back(static_cast<int>(n));
      return true;
    });
    return all;
  }
  /// As the kernel writes it: words of 32 bits, the highest first.
  static std::string mask_of(std::string const& cpus) {
    std::vector<unsigned> words(8);
    for (int const cpu : numbers_in(cpus)) {
      if (cpu / 32 < 8) words[static_cast<std::size_t>(cpu / 32)] |= 1u << cpu % 32;
    }
    std::string text;
    for (auto word = words.rbegin(); word != words.rend(); ++word) {
      std::array<char, 16> digits;
      std::snprintf(digits.data(), digits.size(), "%s%08x", text.empty() ? "" : ",", *word);
      text += digits.data();
    }
    return text;
  }

  std::string root_;
};

std::vector<int> cpus_of(std::vector<place> const& places) {
  std::vector<int> cpus;
  for (auto const& where : places) cpus.push_back(where.cpu);
  return cpus;
}
std::vector<int> spread(topology const& machine) { return cpus_of(machine.spread(machine.pus())); }

/// By the names of the CPUs, not by their places in the tree.
int distance(topology const& machine, int a, int b) {
  auto const places = machine.spread(machine.pus());
  auto const of = [&](int cpu) { return std::find_if(places.begin(), places.end(), [&](place const& p) { return p.cpu == cpu; })->pu; };
  return machine.distance(of(a), of(b));
}

void expect_flat(topology const& machine, std::vector<int> const& cpus) {
  EXPECT_TRUE(machine.is_this_machine());
  EXPECT_EQ(machine.nodes(), 1u);
  EXPECT_EQ(spread(machine), cpus);
  for (unsigned a = 0; a < machine.pus(); ++a) {
    for (unsigned b = 0; b < machine.pus(); ++b) EXPECT_EQ(machine.distance(a, b), a == b ? 0 : 1);
  }
}

/// Two nodes of two packages, of two cores of two threads: the second threads are numbered last, as often.
void write_two_nodes(fake_machine const& m) {
  m.online("0-15");
  for (int core = 0; core < 8; ++core) {
    std::string const threads = std::to_string(core) + "," + std::to_string(core + 8);
    m.core(threads);
    m.cache(0, threads);
    m.cache(1, threads);
  }
  for (auto const* cpus : {"0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"}) {
    m.package(cpus);
    m.cache(2, cpus);
  }
  m.nodes_online("0-1");
  m.node(0, "0-3,8-11");
  m.node(1, "4-7,12-15");
}

/// Two fast cores of two threads each, then two clusters of four slow ones, all below one cache.
void write_hybrid(fake_machine const& m) {
  m.online("0-11");
  for (auto const* cpus : {"0-1", "2-3"}) {
    m.core(cpus);
    m.cluster(cpus);
    m.cache(0, cpus);
    m.cache(1, cpus);
  }
  for (int cpu = 4; cpu < 12; ++cpu) {
    m.core(std::to_string(cpu));
    m.cache(0, std::to_string(cpu));
  }
  for (auto const* cpus : {"4-7", "8-11"}) {
    m.cluster(cpus);
    m.cache(1, cpus);
  }
  m.cache(2, "0-11");
  m.package("0-11");
  m.nodes_online("0");
  m.node(0, "0-11");
}

/// 96 CPUs: two packages of two nodes of two caches of six cores of two threads.
void write_large(fake_machine const& m) {
  m.online("0-95");
  auto const both = [](int first, int count) {  // those cores' first threads, and their second ones
    auto const range = [&](int from) { return std::to_string(from) + "-" + std::to_string(from + count - 1); };
    return range(first) + "," + range(first + 48);
  };
  for (int core = 0; core < 48; ++core) m.core(std::to_string(core) + "," + std::to_string(core + 48));
  for (int group = 0; group < 8; ++group) m.cache(0, both(6 * group, 6));
  m.nodes_online("0-3");
  for (int node = 0; node < 4; ++node) m.node(node, both(12 * node, 12));
  m.package(both(0, 24));
  m.package(both(24, 24));
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
  // As the kernel does it: no topology, no cache, in nobody's list.
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
  EXPECT_EQ(m.load(four).nodes(), 2u);  // nobody asks CPU 1, whom CPU 0 names
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

// ---- What hwloc says.

class variable {
 public:
  variable(char const* name, std::string const& value) : name_{name} { setenv(name, value.c_str(), 1); }
  ~variable() { unsetenv(name_); }
  variable(variable const&) = delete;
  variable& operator=(variable const&) = delete;

 private:
  char const* name_;
};

/// hwloc's tree of the CPUs `allowed`, in which levels that hold the same CPUs are one: what nopal should say.
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
    std::sort(order.begin(), order.end(),
              [](pu const& a, pu const& b) { return std::pair{a.rank, a.index} < std::pair{b.rank, b.index}; });
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(places[i].cpu, order[i].cpu) << i;
  }

 private:
  struct pu {
    int cpu;
    std::size_t index;  // in the order of the tree
    unsigned node;
    int rank;                       // how many of the same core came before
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
  for (auto const& example : {machine{"two nodes", write_two_nodes, {}}, machine{"two nodes, some CPUs", write_two_nodes, {1, 2, 9, 10, 14}},
                              machine{"hybrid", write_hybrid, {}}, machine{"hybrid, some CPUs", write_hybrid, {1, 2, 3, 5, 6, 8}},
                              machine{"large", write_large, {}}}) {
    SCOPED_TRACE(example.name);
    fake_machine m;
    example.write(m);
    variable const root{"HWLOC_FSROOT", m.root()};
    variable const files{"HWLOC_COMPONENTS", "linux,stop"};
    hwloc_says{example.allowed}.expect_of(m.load(example.allowed));
  }
}

}  // namespace
