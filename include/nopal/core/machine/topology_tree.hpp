#pragma once

// The tree of a machine as plain data. The readers in src/machine (linux_topology.cpp, hwloc_topology.cpp) make it, and topology reads it.
// Next: topology.hpp.

#include <vector>

#include "nopal/core/compiler/abi.h"

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

}  // namespace nopal::core
