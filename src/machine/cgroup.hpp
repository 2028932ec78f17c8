#pragma once

// The control groups of this process, of both versions: the folders with the files of a group's limits. For cpus.cpp, thread_limits.cpp and
// thread_limits.cpp, when a pool is made, on any thread.

#include <functional>
#include <string>
#include <string_view>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Calls at(folder, version) for each folder that may hold the files of `controller` ("cpu"): the group's, and its ancestors' up to the
/// root. `proc_self_cgroup` is a file like /proc/self/cgroup, `root` a folder like /sys/fs/cgroup. Version 2: the one hierarchy. Version 1:
/// the one that has the controller. The ancestors up to the root also serve a container that is given a path from outside it and sees its
/// own group mounted as the root. A folder may be missing. Garbled lines are skipped.
void for_each_cgroup(std::string const& proc_self_cgroup, std::string const& root, std::string_view controller,
                     std::function<void(std::string const& folder, int version)> const& at);

}  // namespace nopal::core
