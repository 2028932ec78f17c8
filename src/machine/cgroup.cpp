#include "machine/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <optional>

namespace nopal::inline NOPAL_ABI::core {

namespace {

using at_group = std::function<void(std::string const& folder, int version)>;

// Files are named by strings here: libstdc++ 12 destroys a std::filesystem::path twice if its /= finds no memory.

/// The path of a group without dots, as "/a/b", or "" for the root. Nothing for one above the root.
std::optional<std::string> normal(std::string_view group) {
  std::string path;
  while (!group.empty()) {
    auto const slash = std::min(group.find('/'), group.size());
    auto const name = group.substr(0, slash);
    group.remove_prefix(std::min(slash + 1, group.size()));
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      path.append("/").append(name);
    } else if (path.empty()) {
      return std::nullopt;
    } else {
      path.resize(path.rfind('/'));
    }
  }
  return path;
}

/// From `group` up to and including `root`.
void up_from(std::string const& root, std::string_view group, int version, at_group const& at) {
  // A process outside the root of its cgroup namespace is given a path like /../other: nothing of it can be seen from here.
  std::optional<std::string> below = normal(group);
  if (!below) return;
  for (;; below->resize(below->rfind('/'))) {
    at(root + *below, version);
    if (below->empty()) return;
  }
}

bool names(std::string_view controllers, std::string_view one) {
  while (!controllers.empty()) {
    auto const comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == one) return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

void for_each_cgroup(std::string const& proc_self_cgroup, std::string const& root, std::string_view controller, at_group const& at) {
  std::ifstream groups{proc_self_cgroup};
  // Each line is hierarchy:controllers:group; the group may hold colons of its own.
  for (std::string text; std::getline(groups, text);) {
    std::string_view const line = text;
    auto const first = line.find(':');
    if (first == line.npos) continue;
    auto const second = line.find(':', first + 1);
    if (second == line.npos) continue;
    auto const controllers = line.substr(first + 1, second - first - 1);
    auto const group = line.substr(second + 1);

    if (line.substr(0, first) == "0" && controllers.empty()) {
      up_from(root, group, 2, at);
      up_from(root + "/unified", group, 2, at);  // systemd's hybrid of both versions
    } else if (names(controllers, controller)) {
      // The folder is named for all controllers of the hierarchy, with a link for each alone; either may be missing.
      up_from((root + "/").append(controllers), group, 1, at);
      if (controllers != controller) up_from((root + "/").append(controller), group, 1, at);
    }
  }
}

}  // namespace nopal::core
