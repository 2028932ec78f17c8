#pragma once

// The tree of a machine as plain data. The readers in src/machine/topology.cpp make it, and topology, below, reads it.

#include <string>
#include <vector>

#include "nopal/core/compiler/abi.h"
#include "nopal/place.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Where a worker runs.
struct place {
  int cpu = 0;        ///< the OS index of the CPU
  unsigned node = 0;  ///< the NUMA node: dense from 0 over the nodes that have CPUs we may use
  unsigned pu = 0;    ///< the leaf of the tree, from 0 in the order of the tree: the argument of topology::distance

  bool operator==(place const&) const = default;
};

/// What CPUs share, as a tree. Its leaves are processing units (PUs), that is hardware threads. Made by one thread.
struct topology_tree {
  struct vertex {
    unsigned parent;  ///< its index: parents come before their children, and the root is its own parent
    int depth;
  };

  std::vector<vertex> vertices;
  std::vector<place> places;       ///< by PU
  std::vector<unsigned> leaves;    ///< by PU: its vertex
  std::vector<unsigned> ranks;     ///< by PU: how many PUs of its core come before it
  std::vector<unsigned> packages;  ///< by PU: its package, dense from 0; empty: all are one
  std::vector<unsigned> speeds;    ///< by PU: the greater, the faster its core; empty: all are alike
  unsigned nodes = 1;              ///< NUMA nodes that have CPUs here
  bool this_machine = true;        ///< false: made up, or read from a file

  /// Adds a vertex, and returns its index. The first is the root, with a `parent` of 0.
  unsigned add(unsigned parent, int depth) {
    vertices.push_back({parent, depth});
    return static_cast<unsigned>(vertices.size() - 1);
  }
  /// Makes the vertex `of` the leaf of the next PU.
  void make_leaf(unsigned of, int cpu, unsigned node, unsigned rank) {
    places.push_back({cpu, node, static_cast<unsigned>(places.size())});
    leaves.push_back(of);
    ranks.push_back(rank);
  }
};

// Where the CPUs are: read when a pool is made. It says where worker i runs, which NUMA node that is, and how far two workers are apart. It
// never changes, so any thread may use it. README.md, "How far apart". Next: victim.hpp, which worker a thief tries.

/// The machine, restricted to the CPUs that this process may use.
class topology {
 public:
  /// The topology of this machine, restricted to `allowed_cpus` (OS indices, ascending; empty: all): of_linux.
  ///
  /// If hwloc's variables describe another machine, hwloc reads that instead. HWLOC_SYNTHETIC, set and not empty, is a made-up machine,
  /// whole, whatever is allowed: for tests of placement on any machine. HWLOC_XMLFILE, HWLOC_FSROOT and the like work as in any program of
  /// hwloc's. If hwloc cannot read that machine, or sees other CPUs than those allowed, the result is flat(allowed_cpus): no pool fails for
  /// it. A nopal that was built without hwloc ignores these variables, but refuses HWLOC_SYNTHETIC.
  ///
  /// The last result is kept for the process and returned again while `allowed_cpus` and all HWLOC_ variables stay the same.
  ///
  /// Throws std::invalid_argument if HWLOC_SYNTHETIC is not a topology, or if there is no hwloc to understand it.
  static topology load(std::vector<int> const& allowed_cpus);
  /// A made-up machine: "128" CPUs, all alike; "2x56", two NUMA nodes of 56 cores each; or any text that hwloc takes for HWLOC_SYNTHETIC,
  /// as "pack:2 numa:2 core:14 pu:2". Throws std::invalid_argument for any other text, if there are more PUs than a pool may have workers,
  /// or if it needs hwloc and nopal was built without it.
  static topology made_up(std::string const& description);
  /// Around a fork, by the thread that forks: the lock on the last result is held in between.
  static void before_fork() noexcept;
  static void after_fork() noexcept;

  /// What Linux tells of the machine in the files under `sys`, restricted to `allowed_cpus` (ascending; empty: those online).
  ///
  /// The tree holds once each set of CPUs that share something: a core, a cache, a cluster, a die, a package, a NUMA node. Files that are
  /// missing or empty tell nothing. If one is garbled, if two sets overlap in part, or if no file names a CPU, the result is
  /// flat(allowed_cpus). Throws nothing but std::bad_alloc. A tenth of a millisecond on a small machine; one small file for each set.
  static topology of_linux(std::vector<int> const& allowed_cpus, std::string const& sys = "/sys");

  /// One NUMA node, every CPU its own core, all at distance 1.
  static topology flat(std::vector<int> cpus);

  /// False if made up or read from a file: its CPUs are not this machine's, and nothing may be pinned to them.
  bool is_this_machine() const noexcept { return tree_.this_machine; }
  /// Number of NUMA nodes that have CPUs here; at least 1.
  unsigned nodes() const noexcept { return tree_.nodes; }
  /// Number of leaves of the tree, of those that `keep_only` has left; at least 1.
  unsigned pus() const noexcept { return static_cast<unsigned>(spread_.size()); }
  /// The OS indices of the CPUs of a place, ascending. Throws std::invalid_argument, with what there is, if it has none here, or names a CPU
  /// that is not here.
  std::vector<int> cpus_of(nopal::place const& p) const;
  /// From now on workers get only these CPUs, at least one of which is here.
  void keep_only(std::vector<int> const& cpus);

  /// Where each of `workers` workers runs. First the first hardware thread of every core in the order of the tree, so that neighbours in
  /// number are neighbours on the machine and few workers share one node; only then, in the same order, the second hardware thread of every
  /// core, and so on. More workers than PUs begin again at the first. Linear in `workers`.
  std::vector<place> spread(unsigned workers) const;

  /// r_ij of Eq. (6): the edges from the lowest common ancestor of PUs a and b down to the deeper of the two; 0 if a == b.
  /// Linear in the height of the tree, which is about ten.
  int distance(unsigned a, unsigned b) const noexcept;
  int distance(place const& a, place const& b) const noexcept { return distance(a.pu, b.pu); }

 private:
  explicit topology(topology_tree tree);

  topology_tree tree_;
  std::vector<unsigned> spread_;  // PUs in the order in which workers take them
};

}  // namespace nopal::core
