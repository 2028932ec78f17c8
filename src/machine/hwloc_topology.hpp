#pragma once

// Machines that are not this one, which hwloc describes: made-up and saved ones. hwloc is not used for this machine, since it loads
// whatever plug-ins are installed (OpenCL, OpenGL, X11), and no option prevents that: linux_topology.hpp reads it. For topology.cpp, when a
// pool is made. Next: topology_tree.hpp, the result.

#include <optional>
#include <string>
#include <vector>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/machine/topology_tree.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// All variables of the environment that hwloc may read, as one string.
std::string hwloc_environment();

/// True if hwloc's variables describe a machine, or say where hwloc should read about one.
bool hwloc_is_told_of_a_machine() noexcept;

/// What hwloc's variables describe, restricted to `allowed_cpus` (OS indices; empty: all) unless it is another machine. Nothing if hwloc
/// cannot read it, or does not know those CPUs. Throws std::invalid_argument if HWLOC_SYNTHETIC is no topology, std::bad_alloc.
///
/// In a nopal that was built without hwloc: throws std::invalid_argument if HWLOC_SYNTHETIC is set, and otherwise reads this machine.
std::optional<topology_tree> read_hwloc_topology(std::vector<int> const& allowed_cpus);

/// The machine that `description` makes up, in hwloc's words. Throws std::invalid_argument if it is none, or if there is no hwloc to
/// understand it. `from`: the variable that holds it.
topology_tree read_synthetic_topology(char const* from, char const* description);

}  // namespace nopal::core
