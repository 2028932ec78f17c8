#include "graph/plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "graph/node_name.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

using all_nodes = std::vector<std::unique_ptr<any_node>>;

// `waits`: for each node, how many edges to it are left once all that can run in some order has run. A node that waits has an edge from
// another that does: the way back from node to node comes to one twice.
[[noreturn]] void throw_cycle(plan const& p, all_nodes const& all, std::vector<std::uint32_t> const& waits) {
  std::vector<std::uint32_t> from(all.size());
  for (std::uint32_t k = 0; k < all.size(); ++k) {
    if (waits[k] == 0 || p.nodes[k].chooses) continue;
    for (std::uint32_t const to : p.after(k)) from[to] = k;
  }
  std::vector<bool> seen(all.size());
  auto at = static_cast<std::uint32_t>(std::ranges::find_if(waits, [](std::uint32_t n) { return n != 0; }) - waits.begin());
  for (; !seen[at]; at = from[at]) seen[at] = true;
  std::vector<std::uint32_t> cycle{at};
  for (std::uint32_t k = from[at]; k != at; k = from[k]) cycle.push_back(k);
  std::string names = name_of(all, at);
  for (auto k = cycle.rbegin(); k != cycle.rend(); ++k) names += " -> " + name_of(all, *k);
  throw std::invalid_argument{"nopal: a graph has a cycle, whose nodes wait for each other: " + names +
                              ". Take out one of these edges; a loop needs a branch in it, which chooses whether to go round"};
}

// Throws if some nodes wait for each other.
void check_cycles(plan const& p, all_nodes const& all) {
  std::vector<std::uint32_t> waits;
  std::vector<std::uint32_t> ready;
  waits.reserve(all.size());
  ready.reserve(all.size());
  for (std::uint32_t k = 0; k < all.size(); ++k) {
    waits.push_back(p.nodes[k].before);
    if (waits[k] == 0) ready.push_back(k);
  }
  for (std::size_t k = 0; k < ready.size(); ++k) {
    if (p.nodes[ready[k]].chooses) continue;
    for (std::uint32_t const to : p.after(ready[k])) {
      if (--waits[to] == 0) ready.push_back(to);
    }
  }
  if (ready.size() != all.size()) throw_cycle(p, all, waits);
}

}  // namespace

plan::plan(all_nodes const& all) {
  if (all.empty()) {
    throw std::invalid_argument{"nopal: a graph without nodes was run; add some by graph::node before, or do not run it"};
  }
  nodes.reserve(all.size());
  next.reserve(all.size());
  for (auto const& n : all) {
    nodes.push_back({n.get(), static_cast<std::uint32_t>(next.size()), static_cast<std::uint32_t>(n->next.size()), 0, n->chooses});
    next.insert(next.end(), n->next.begin(), n->next.end());
    has_branches = has_branches || n->chooses;
  }
  if (next.size() > 0xffff'ffff) throw std::invalid_argument{"nopal: a graph has 2^32 - 1 edges at most"};
  std::vector<bool> is_led_to(all.size());
  for (std::uint32_t k = 0; k < all.size(); ++k) {
    for (std::uint32_t const to : after(k)) {
      is_led_to[to] = true;
      if (!nodes[k].chooses) ++nodes[to].before;
    }
  }
  check_cycles(*this, all);
  for (std::uint32_t k = 0; k < all.size(); ++k) {
    if (!is_led_to[k]) first.push_back(k);
  }
  if (first.empty()) {
    throw std::invalid_argument{
        "nopal: no node of a graph can begin, since an edge leads to each; add a node to which none leads, with an edge to where the run "
        "is "
        "to begin"};
  }
}

}  // namespace nopal::core
