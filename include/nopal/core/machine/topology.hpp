#pragma once

// How the CPUs lie: a tree in plain data, read when a pool is made. Where worker i goes, which NUMA node that is,
// and how far two workers are apart. Immutable after load, so any thread may ask. Next: victim.hpp, whom a thief tries.

#include <optional>
#include <string>
#include <vector>

namespace nopal::core {

/// Where a worker runs.
struct place {
  int cpu = 0;        ///< the OS index of the CPU
  unsigned node = 0;  ///< the NUMA node: dense from 0 over the nodes that have CPUs we may use
  unsigned pu = 0;    ///< the leaf of the tree, from 0 in the order of the tree: what distance asks for

  bool operator==(place const&) const = default;
};

/// The tree of the machine, restricted to the CPUs we may use; its leaves are processing units (PUs), that is hardware threads.
class topology {
 public:
  /// The topology of this machine, restricted to `allowed_cpus` (OS indices, ascending; empty: all): of_linux.
  ///
  /// If hwloc's variables describe another machine, hwloc is asked instead. HWLOC_SYNTHETIC, set and not empty, is a made-up machine,
  /// whole, whatever is allowed: for tests of placement on any machine. HWLOC_XMLFILE, HWLOC_FSROOT and the like work as in any program
  /// of hwloc's. If hwloc cannot read that machine, or sees other CPUs than those allowed, the answer is flat(allowed_cpus): no pool fails
  /// for it. A nopal that was built without hwloc takes no notice of these variables, but for HWLOC_SYNTHETIC, which it refuses.
  ///
  /// The last answer is kept for the process and given again while `allowed_cpus` and all HWLOC_ variables stay the same.
  ///
  /// Throws std::invalid_argument if HWLOC_SYNTHETIC is not a topology, or if there is no hwloc to understand it.
  static topology load(std::vector<int> const& allowed_cpus);

  /// What Linux tells of the machine in the files under `sys`, restricted to `allowed_cpus` (ascending; empty: those online).
  ///
  /// The tree holds each set of CPUs that share something once: a core, a cache, a cluster, a die, a package, a NUMA node. Files that are
  /// missing or empty tell nothing. Where one is garbled, where two sets overlap in part, or where a CPU occurs nowhere, nobody knows:
  /// flat(allowed_cpus). Throws nothing but std::bad_alloc. A tenth of a millisecond on a small machine; one small file for each set.
  static topology of_linux(std::vector<int> const& allowed_cpus, std::string const& sys = "/sys");

  /// One NUMA node, every CPU its own core, all at distance 1.
  static topology flat(std::vector<int> cpus);

  /// False if made up or read from a file: its CPUs are then none of ours, and nothing may be pinned to them.
  bool is_this_machine() const noexcept { return this_machine_; }
  /// How many NUMA nodes have CPUs here; at least 1.
  unsigned nodes() const noexcept { return nodes_; }
  /// How many leaves the tree has; at least 1.
  unsigned pus() const noexcept { return static_cast<unsigned>(places_.size()); }

  /// Where each of `workers` workers goes. First the first hardware thread of every core in the order of the tree, so that
  /// neighbours in number are neighbours on the machine and few workers share one node; only then, in the same order, the
  /// second hardware thread of every core, and so on. More workers than PUs go round again. Linear in `workers`.
  std::vector<place> spread(unsigned workers) const;

  /// r_ij of Eq. (6): the edges from the lowest common ancestor of PUs a and b down to the deeper of the two; 0 if a == b.
  /// Linear in the height of the tree, which is about ten.
  int distance(unsigned a, unsigned b) const noexcept;
  int distance(place const& a, place const& b) const noexcept { return distance(a.pu, b.pu); }

 private:
  /// Parents come before their children; the root is its own parent.
  struct vertex {
    unsigned parent;
    int depth;
  };

  class linux_reader;
  class hwloc_reader;  // the only one who knows hwloc

  topology() = default;

  /// of_linux, or nothing where it is flat for want of anything better.
  static std::optional<topology> read_linux(std::vector<int> const& allowed_cpus, std::string const& sys);
  /// What hwloc's variables describe, or nothing where they describe no machine that hwloc knows.
  static std::optional<topology> of_hwloc(std::vector<int> const& allowed_cpus);
  /// The order of spread, by how many PUs of the same core came before each.
  void order(std::vector<unsigned> const& rank);

  std::vector<vertex> tree_;
  std::vector<place> places_;     // by PU
  std::vector<unsigned> leaf_;    // by PU: its vertex
  std::vector<unsigned> spread_;  // PUs in the order in which workers take them
  unsigned nodes_ = 1;
  bool this_machine_ = true;
};

}  // namespace nopal::core
