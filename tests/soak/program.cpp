#include "program.hpp"

#include <algorithm>

namespace soak {

// Processes are slow. What a fault would end in the middle of a library that does not expect it is left out.
static way company_or_not(node const& n, limits const& most) {
  unsigned const bit = 1u << (static_cast<unsigned>(n.how) - static_cast<unsigned>(way::stays));
  bool const may = (most.with & bit) != 0 && !most.faults;
  if (!may || (n.how == way::process && n.salt % 8 != 0)) return n.bit(1) ? way::invoke : way::serial;
  return n.how;
}

program::program(std::uint8_t const* data, std::size_t size, limits const& most) {
  reader in{data, size};
  start_ = in.next();
  unsigned const shape = in.next();
  std::size_t const fewest = shape % 8 == 0 ? 1 : 0;
  std::size_t const widest = 1 + shape / 8 % node::most_children;
  constexpr std::array<unsigned, 4> rarities{0, 150, 40, 12};
  unsigned const rarely = rarities[shape / 64];
  // A favourite way, half of the time: what is rare in a mixture is common there.
  unsigned const favourite = in.next();

  // Breadth first: a tape cut short loses the leaves.
  add(nullptr);
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    node& n = *nodes_[k];
    unsigned const how = in.next(), many = in.next(), temper = in.next();
    n.salt = in.next();
    n.how = static_cast<way>((favourite >= 128 && how >= 128 ? favourite : how) % ways);
    if (n.how == way::threads && n.salt % 4 != 0) n.how = way::spawn;  // threads are slow
    if (has_company(n.how)) n.how = company_or_not(n, most);
    n.below_another_runtime = n.parent != nullptr && (n.parent->below_another_runtime || is_another_runtime(n.parent->how));
    if (n.below_another_runtime && !only_joins(n.how)) n.how = n.bit(0) ? way::scope : way::forks;
    if (most.faults && needs_memory(n.how)) n.how = n.bit(0) ? way::scope : way::forks;
    if (rarely != 0) {
      n.throws_first = temper % rarely == 1;
      n.throws_between = temper % rarely == 2;
      n.throws_last = temper % rarely == 3;
      n.tears = temper % rarely == 4;
      n.catches = many >= 128;
    }
    if (n.depth == most.depth) continue;
    std::size_t children = std::max(fewest, many % 128 % (widest + 1));
    if (children == 0 && k + 1 == nodes_.size() && !in.empty()) children = 1;
    children = std::min(children, most.nodes - nodes_.size());
    for (std::size_t c = 0; c < children && !in.empty(); ++c) n.children.push_back(&add(&n));
    n.first_part = n.children.size() > 2 && n.bit(7) ? n.children.size() / 2 : n.children.size();
  }
  run_serially(*nodes_.front());
  rule(*nodes_.front(), node::run_rule::must);
}

node& program::add(node* parent) {
  node& n = *nodes_.emplace_back(std::make_unique<node>());
  n.id = nodes_.size();
  n.parent = parent;
  if (parent != nullptr) n.depth = parent->depth + 1;
  return n;
}

void program::reset() noexcept {
  for (auto const& n : nodes_) n->runs = n->active_children = 0;
}

// Also what follows an exception, so that every node knows its result.
void program::run_serially(node& n) {
  for (node* const c : n.children) run_serially(*c);
  n.expected = {mix(n.id), n.throws_first ? n.first() : 0};
  for (std::size_t k = 0; k < 2 && n.expected.thrown == 0; ++k) {
    std::uint64_t thrown = 0;
    std::uint64_t value = n.expected.value;
    for (node const* const c : n.part(k)) {
      if (thrown == 0) thrown = c->seen().thrown;
      value = node::fold(value, c->seen().value);
    }
    if (k == 0 && n.throws_between) {
      if (n.how == way::scope_thrown) thrown = n.between();
      if (n.how == way::forks && thrown == 0) thrown = n.between();
    }
    if (thrown == 0) {
      n.expected.value = value;
    } else if (n.catches) {
      n.expected.value = node::fold_caught(n.expected.value, thrown);
    } else {
      n.expected.thrown = thrown;
    }
  }
  if (n.expected.thrown == 0 && n.throws_last) n.expected.thrown = n.last();
}

// Up to the first child that throws, all of a part's children must run; the others may or may not, except with fibers and scopes.
void program::rule(node& n, node::run_rule r) {
  n.rule = r;
  if (n.throws_first || r == node::run_rule::never) return;
  for (std::size_t k = 0; k < 2; ++k) {
    bool thrown = false;
    for (node* const c : n.part(k)) {
      bool const torn = c->seen().thrown == c->torn();
      bool const runs = !thrown || is_fiber(n.how) || n.how == way::scope_left || n.how == way::scope_thrown || n.how == way::reaches;
      rule(*c, torn ? node::run_rule::never : runs ? r : node::run_rule::may);
      thrown = thrown || c->seen().thrown != 0;
    }
    if (k == 0 && n.throws_between && (n.how == way::scope_thrown || n.how == way::forks)) thrown = true;
    if (thrown && !n.catches) return;
  }
}

}  // namespace soak
