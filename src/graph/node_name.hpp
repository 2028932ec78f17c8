#pragma once

// What a node is called in messages and drawings.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nopal/core/graph/node.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The node's own name; or "node 3", if it is the fourth that was made.
inline std::string name_of(std::vector<std::unique_ptr<any_node>> const& all, std::uint32_t k) {
  return all[k]->name != nullptr ? *all[k]->name : "node " + std::to_string(k);
}

}  // namespace nopal::core
