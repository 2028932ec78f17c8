#pragma once

// A pool on a simulated machine with costs that a test gives.

#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include <nopal/nopal.hpp>
#include <nopal/simulation.hpp>

#include "scale.hpp"

// While it lives, NOPAL_SIMULATION has this value.
class with_costs {
 public:
  explicit with_costs(std::string const& text) { ::setenv("NOPAL_SIMULATION", text.c_str(), 1); }
  with_costs(with_costs const&) = delete;
  with_costs& operator=(with_costs const&) = delete;
  ~with_costs() { ::unsetenv("NOPAL_SIMULATION"); }
};

inline nopal::pool_options machine(std::string text) {
  nopal::pool_options o;
  o.simulate = std::move(text);
  return o;
}

// The report of a machine that runs `f` once, in given time: work takes what simulate_work says, and the rest what `costs` says.
template <class F>
nopal::simulation_report given(std::string const& on, std::string const& costs, F f, nopal::idle idle = nopal::idle::lazy) {
  with_costs const c{"clock=given,report=/dev/null,look=0,steal=0,wake=0,wake_up=0," + costs};
  nopal::pool_options o = machine(on);
  o.idle = idle;
  nopal::pool p{o};
  p.run(f);
  return nopal::simulated(p).value();
}

// Machines on which results must have the same bits, each with the most elements. Most of the time goes to idle workers: each look for work is a
// switch between threads.
struct machine_and_most {
  char const* machine;
  long most;
};
inline constexpr std::array<machine_and_most, 5> same_bits_on{
    {{"1", 1000}, {"2", 1000}, {"16", 1000}, {"2x16", test::scaled(1000, 3)}, {"2x56", test::scaled(20)}}};
