#pragma once

// The control groups of this process, of both versions: where the files lie that say what a group may use. For cpus.cpp and
// thread_limits.cpp, when a pool is made, on any thread.

#include <functional>
#include <string>
#include <string_view>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Calls at(folder, version) for each folder that may hold the files of `controller` ("cpu"): the group's, and its ancestors' up to the root.
/// `proc_self_cgroup` is a file like /proc/self/cgroup, `root` a folder like /sys/fs/cgroup. Version 2: the one hierarchy. Version 1: that
/// which has the controller. Going up to the root also serves a container that is told a path from outside it and sees its own group mounted
/// as the root. A folder may be missing. What is garbled is passed over.
void for_each_cgroup(std::string const& proc_self_cgroup, std::string const& root, std::string_view controller,
                     std::function<void(std::string const& folder, int version)> const& at);

}  // namespace nopal::core
