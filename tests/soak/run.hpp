#pragma once

// The parts that run a program's nodes. A node is run by run.cpp, its children by one of the other files, which run nodes again.

#include <cstddef>
#include <cstdint>
#include <span>

#include "nopal/task.hpp"
#include "site.hpp"

namespace soak {

/// Some of a node's children, to be joined before anything else happens, and the places for their values.
struct part {
  site& s;
  node const& n;
  std::span<node* const> children;
  std::uint64_t* values;
  bool is_first;

  std::size_t size() const noexcept { return children.size(); }
  bool throws_between() const noexcept { return is_first && n.throws_between; }
};

/// A node, from ordinary code; from a task.
std::uint64_t natively(site& s, node const& n);
nopal::task<std::uint64_t> as_task(site& s, node const& n);
/// The same, but no exception that it throws by design leaves it.
outcome attempt(site& s, node const& n);

/// Runs the children, in one of the ways. Throws the exception that a serial run throws first.
void by_functions(part const& p);
void by_company(part const& p);
void by_fibers(part const& p);
nopal::task<> by_tasks(part const& p);

/// The results of the attempts, in the order of a serial run.
void settle(part const& p, outcome const* outcomes);

}  // namespace soak
