#pragma once

// Machines that are not this one, which hwloc describes: made-up ones, and those that somebody has saved. hwloc is not used for this
// machine, since it loads whatever plug-ins are installed (OpenCL, OpenGL, X11) and has no way to be told not to: linux_topology.hpp reads
// that. For topology.cpp, when a pool is made. Next: topology_tree.hpp, what comes of it.

#include <optional>
#include <string>
#include <vector>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/machine/topology_tree.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// All variables of the environment that hwloc may read, as one string.
std::string hwloc_environment();

/// Do hwloc's variables say what the machine is, or where hwloc should read about it?
bool hwloc_is_told_of_a_machine() noexcept;

/// What hwloc's variables describe, restricted to `allowed_cpus` (OS indices; empty: all) unless it is another machine. Nothing if hwloc
/// cannot read it, or does not know those CPUs. Throws std::invalid_argument if HWLOC_SYNTHETIC is no topology, std::bad_alloc.
///
/// In a nopal that was built without hwloc: throws std::invalid_argument if HWLOC_SYNTHETIC is set, and otherwise reads this machine.
std::optional<topology_tree> read_hwloc_topology(std::vector<int> const& allowed_cpus);

/// The machine that `description` makes up, in hwloc's words. Throws std::invalid_argument if it is none, or if there is no hwloc to
/// understand it. `from`: the variable that says so.
topology_tree read_synthetic_topology(char const* from, char const* description);

}  // namespace nopal::core
