#pragma once

// The parts that run a program's nodes. A node is run by run.cpp, its children by one of the other files, which run nodes again.

#include <cstddef>
#include <cstdint>
#include <span>

#include "nopal/task.hpp"
#include "site.hpp"

namespace soak {

/// Some of a node's children, to be joined before anything else happens, and where their values go.
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
/// The same, and nothing that it throws by design comes out.
outcome attempt(site& s, node const& n);

/// The children, in one of the ways. Throws the exception that a serial run meets first.
void by_functions(part const& p);
void by_company(part const& p);
void by_fibers(part const& p);
nopal::task<> by_tasks(part const& p);

/// What the attempts have brought, in the order of a serial run.
void settle(part const& p, outcome const* outcomes);

}  // namespace soak
