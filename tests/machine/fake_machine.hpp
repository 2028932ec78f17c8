#pragma once

// Machines described as by Linux, in folders like /sys.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/machine/topology.hpp"

namespace test {

/// A folder in the place of /, until the end of the block.
class fake_machine {
 public:
  fake_machine() : root_{testing::TempDir() + "nopal_sys_XXXXXX"} {
    if (mkdtemp(root_.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
  }
  ~fake_machine() { std::filesystem::remove_all(root_); }
  fake_machine(fake_machine const&) = delete;
  fake_machine& operator=(fake_machine const&) = delete;

  void write(std::string const& file, std::string const& text) const {
    std::filesystem::path const path = std::filesystem::path{sys()} / "devices/system" / file;
    std::ofstream out{path};
    if (!out) {
      std::filesystem::create_directories(path.parent_path());
      out.open(path);
    }
    out << text << '\n';
  }
  void online(std::string const& list) const {
    for (auto const* file : {"cpu/online", "cpu/possible", "cpu/present"}) write(file, list);
  }
  /// Writes `text` to the file `name` of each CPU of `cpus`.
  void each(std::string const& cpus, std::string const& name, std::string const& text) const {
    for (int const cpu : numbers_in(cpus)) write("cpu/cpu" + std::to_string(cpu) + "/" + name, text);
  }
  /// Each CPU of `cpus` states that it shares with them: in the file `list`, and in the file `mask`, which hwloc reads.
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
  nopal::core::topology load(std::vector<int> const& allowed = {}) const { return nopal::core::topology::of_linux(allowed, sys()); }

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

/// Two nodes of two packages, of two cores of two threads: the second threads are numbered last, as is common.
inline void write_two_nodes(fake_machine const& m) {
  m.online("0-15");
  for (int core = 0; core < 8; ++core) {
    std::string threads = std::to_string(core);
    threads.append(",").append(std::to_string(core + 8));
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
inline void write_hybrid(fake_machine const& m) {
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
inline void write_large(fake_machine const& m) {
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

/// The CPUs of a machine in the order in which workers get them.
inline std::vector<int> spread(nopal::core::topology const& machine) {
  std::vector<int> cpus;
  for (auto const& where : machine.spread(machine.pus())) cpus.push_back(where.cpu);
  return cpus;
}

}  // namespace test
