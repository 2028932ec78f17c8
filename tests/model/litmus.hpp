#pragma once

// The final values of registers, over all executions of a small program.

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <set>
#include <vector>

#include "explorer.hpp"

namespace model {

using outcomes = std::set<std::vector<int>>;

/// The final values of the registers of `threads`, over all executions.
struct litmus {
  model::config config{};
  int registers;
  outcomes run(std::function<void(program&, std::vector<int>&)> const& body) const {
    outcomes all;
    result const r = explore(config, [&](program& p) {
      auto& regs = p.make<std::vector<int>>(static_cast<std::size_t>(registers), -1);
      body(p, regs);
      p.finally([&] { all.insert(regs); });
    });
    EXPECT_TRUE(r.ok()) << r.report();
    EXPECT_TRUE(r.complete || config.preemptions >= 0) << r.report();
    return all;
  }
};

using order = std::memory_order;

}  // namespace model
