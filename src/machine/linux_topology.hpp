#pragma once

// What Linux says of this machine, in small files: which CPUs are one core, share a cache, are a cluster, a die, a package or a NUMA node.
// For topology.cpp, when a pool is made. Next: topology_tree.hpp, the result.

#include <optional>
#include <string>
#include <vector>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/machine/topology_tree.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The tree of the machine that the files under `sys` describe, restricted to `allowed_cpus` (OS indices; empty: those online). Nothing if
/// no file names some CPU, or if files are garbled or contradict each other. Throws nothing but std::bad_alloc. One small file for each set
/// of CPUs.
std::optional<topology_tree> read_linux_topology(std::vector<int> const& allowed_cpus, std::string const& sys);

}  // namespace nopal::core
